// How the agent of one query moves, and the map that it sees.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/store/map_snapshot.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// What a request says of how its agent moves. The messages must outlive it.
struct RequestedMovement {
  // Null if the request has none; of the two at most one is there.
  const v1::MovementProfile* profile = nullptr;
  const std::string* profile_name = nullptr;
  v1::CornerRule corner_rule = v1::CORNER_RULE_UNSPECIFIED;
  std::int32_t footprint = 0;
  const v1::Overlay* overlay = nullptr;
};

// Of any request whose fields are named as FindPathRequest's are.
template <typename Request>
RequestedMovement RequestedMovementOf(const Request& request) {
  return {.profile = request.has_profile() ? &request.profile() : nullptr,
          .profile_name = request.has_profile_name() ? &request.profile_name() : nullptr,
          .corner_rule = request.corner_rule(),
          .footprint = request.footprint(),
          .overlay = &request.overlay()};
}

// A profile resolved on a snapshot: the map as the profile sees it with the overlay laid over, and what else
// a query needs to know of the agent.
class Movement {
 public:
  // `snapshot` must outlive this. What a request says of itself wins over its profile. Errors: those of
  // core::CheckIsGrid;
  // INVALID_ARGUMENT / UNKNOWN_ENUM_VALUE and BAD_VALUE with the field "corner_rule" or "footprint"; those of
  // ToMovementProfile and core::CheckProfile below "profile."; BAD_PROFILE and NOT_FOUND / PROFILE_NOT_FOUND
  // with "profile_name"; those of core::WithOverlay, and MISSING_FIELD for a part of the shape that lacks
  // one, with the field below "overlay.".
  static absl::StatusOr<Movement> Make(const core::MapSnapshot& snapshot, const RequestedMovement& requested);

  // What to search, validate or measure on.
  const core::GridMap& map() const {
    if (overlaid_.has_value()) {
      return *overlaid_;
    }
    return view_ != nullptr ? *view_ : plain_;
  }
  core::CornerRule corner_rule() const { return corner_rule_; }
  // From 1 to core::kMaxFootprint.
  int footprint() const { return footprint_; }
  // What a link must have for the agent to use it. Sorted.
  const std::vector<std::string>& required_tags() const { return required_tags_; }

 private:
  explicit Movement(const core::GridMap& plain) : plain_(plain) {}

  absl::Status TakeProfile(const RequestedMovement& requested);

  const core::GridMap& plain_;
  // Of the profile, if that sees other terrains than the map has.
  std::shared_ptr<const core::GridMap> view_;
  // With the overlay, if there is something to lay over it.
  std::optional<core::GridMap> overlaid_;
  core::CornerRule corner_rule_ = core::CornerRule::kNoCornerCutting;
  int footprint_ = 1;
  std::vector<std::string> required_tags_;
};

// Whether what the overlay shows depends on more of a map than on where its cells can be walked on and what
// they cost: on obstacles that lie below others.
bool IgnoresObstacles(const v1::Overlay& overlay);

}  // namespace waystar::rpc
