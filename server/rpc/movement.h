// How the agent of one query moves, and the map that it sees.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/store/map_snapshot.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// What a request says of how its agent moves. The messages must outlive it.
struct RequestedMovement {
  // Null if the request has none.
  const v1::MovementProfile* profile = nullptr;
  v1::CornerRule corner_rule = v1::CORNER_RULE_UNSPECIFIED;
  std::int32_t footprint = 0;
  const v1::Overlay* overlay = nullptr;
};

// Of any request whose fields are named as FindPathRequest's are.
template <typename Request>
RequestedMovement RequestedMovementOf(const Request& request) {
  return {.profile = request.has_profile() ? &request.profile() : nullptr,
          .corner_rule = request.corner_rule(),
          .footprint = request.footprint(),
          .overlay = &request.overlay()};
}

// A profile resolved on a snapshot: the map as the profile sees it with the overlay laid over, made when
// there is something to lay over it, and what else a query needs to know of the agent.
class Movement {
 public:
  // `snapshot` must outlive this. What a request says of itself wins over its profile. Errors are
  // INVALID_ARGUMENT: UNKNOWN_ENUM_VALUE and BAD_VALUE with the field "corner_rule", "footprint" or one below
  // "profile."; those of core::WithOverlay, and MISSING_FIELD for a part of the shape that lacks one, with
  // the field below "overlay.".
  static absl::StatusOr<Movement> Make(const core::MapSnapshot& snapshot, const RequestedMovement& requested);

  // What to search, validate or measure on.
  const core::GridMap& map() const { return own_.has_value() ? *own_ : map_; }
  core::CornerRule corner_rule() const { return corner_rule_; }
  // From 1 to core::kMaxFootprint.
  int footprint() const { return footprint_; }

 private:
  Movement(const core::GridMap& map, std::optional<core::GridMap> own, core::CornerRule corner_rule,
           int footprint)
      : map_(map), own_(std::move(own)), corner_rule_(corner_rule), footprint_(footprint) {}

  const core::GridMap& map_;
  std::optional<core::GridMap> own_;
  core::CornerRule corner_rule_;
  int footprint_;
};

// Whether what the agent sees depends on more of a map than on where its cells can be walked on and what they
// cost: on obstacles that lie below others.
bool LooksBelow(const RequestedMovement& requested);

}  // namespace waystar::rpc
