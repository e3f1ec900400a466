#include "server/rpc/query/movement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/overlay.h"
#include "server/core/map/movement_profile.h"
#include "server/core/shape/shape.h"
#include "server/rpc/wire/convert_path.h"
#include "server/rpc/wire/convert_profile.h"
#include "server/rpc/wire/convert_shape.h"

namespace waystar::rpc {
namespace {

// Nothing if there is nothing to lay over the map.
absl::StatusOr<std::optional<core::GridMap>> Lay(const v1::Overlay& overlay, const core::GridMap& map) {
  absl::StatusOr<core::Shape> blocked = ToShape(overlay.blocked());
  if (!blocked.ok()) {
    return WithFieldPrefix(blocked.status(), "overlay.blocked.");
  }
  const core::Overlay laid{
      .blocked = *std::move(blocked),
      .ignored_obstacles = {overlay.ignored_obstacles().begin(), overlay.ignored_obstacles().end()}};
  if (laid.empty()) {
    return std::optional<core::GridMap>();
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::GridMap own, core::WithOverlay(map, laid));
  return std::optional<core::GridMap>(std::move(own));
}

absl::StatusOr<core::MovementProfile> CheckedProfile(const v1::MovementProfile& profile,
                                                     const core::GridMap& map) {
  absl::StatusOr<core::MovementProfile> converted = ToMovementProfile(profile);
  absl::Status status = converted.status();
  if (status.ok()) {
    status = core::CheckProfile(*converted, map.settings());
  }
  if (!status.ok()) {
    return WithFieldPrefix(status, "profile.");
  }
  return converted;
}

absl::StatusOr<const core::MovementProfile*> NamedProfileOf(const std::string& name,
                                                            const core::GridMap& map) {
  if (const absl::Status status = core::CheckProfileName(name); !status.ok()) {
    return InvalidArgument(ErrorReason::kBadProfile, "profile_name", status.message());
  }
  const core::MovementProfile* profile = core::FindProfile(map.profiles(), name);
  if (profile == nullptr) {
    return core::NoSuchProfile(name, "profile_name");
  }
  return profile;
}

bool ChangesTerrains(const core::MovementProfile& profile) {
  return profile.no_diagonals || !profile.terrain_costs.empty() || !profile.forbidden_terrains.empty();
}

}  // namespace

absl::Status Movement::TakeProfile(const RequestedMovement& requested) {
  core::MovementProfile own;
  const core::MovementProfile* profile = &own;
  if (requested.profile != nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(own, CheckedProfile(*requested.profile, plain_));
  } else if (requested.profile_name != nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(profile, NamedProfileOf(*requested.profile_name, plain_));
  } else {
    return absl::OkStatus();
  }
  footprint_ = profile->footprint;
  corner_rule_ = profile->corner_rule;
  required_tags_ = profile->required_tags;
  std::sort(required_tags_.begin(), required_tags_.end());
  if (ChangesTerrains(*profile)) {
    if (const core::TerrainRules rules(*profile, plain_.settings()); !rules.IsAsIn(plain_.settings())) {
      view_ = plain_.ViewUnder(rules);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Movement> Movement::Make(const core::MapSnapshot& snapshot,
                                        const RequestedMovement& requested) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckIsGrid(snapshot));
  Movement movement(snapshot.grid());
  WAYSTAR_RETURN_IF_ERROR(movement.TakeProfile(requested));
  if (requested.corner_rule != v1::CORNER_RULE_UNSPECIFIED) {
    WAYSTAR_ASSIGN_OR_RETURN(movement.corner_rule_, ToCornerRule(requested.corner_rule));
  }
  if (requested.footprint != 0) {
    WAYSTAR_ASSIGN_OR_RETURN(movement.footprint_, ToFootprint(requested.footprint));
  }
  WAYSTAR_ASSIGN_OR_RETURN(movement.overlaid_, Lay(*requested.overlay, movement.map()));
  return movement;
}

bool IgnoresObstacles(const v1::Overlay& overlay) { return overlay.ignored_obstacles_size() > 0; }

}  // namespace waystar::rpc
