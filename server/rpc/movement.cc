#include "server/rpc/movement.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/overlay.h"
#include "server/core/shape/shape.h"
#include "server/rpc/convert_path.h"
#include "server/rpc/convert_shape.h"

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

struct Agent {
  core::CornerRule corner_rule;
  int footprint;
};

absl::StatusOr<Agent> ToAgent(v1::CornerRule corner_rule, std::int32_t footprint) {
  Agent agent{};
  WAYSTAR_ASSIGN_OR_RETURN(agent.corner_rule, ToCornerRule(corner_rule));
  WAYSTAR_ASSIGN_OR_RETURN(agent.footprint, ToFootprint(footprint));
  return agent;
}

}  // namespace

absl::StatusOr<Movement> Movement::Make(const core::MapSnapshot& snapshot,
                                        const RequestedMovement& requested) {
  WAYSTAR_ASSIGN_OR_RETURN(Agent agent, ToAgent(requested.corner_rule, requested.footprint));
  if (const v1::MovementProfile* profile = requested.profile) {
    const absl::StatusOr<Agent> of_profile = ToAgent(profile->corner_rule(), profile->footprint());
    if (!of_profile.ok()) {
      return WithFieldPrefix(of_profile.status(), "profile.");
    }
    if (requested.corner_rule == v1::CORNER_RULE_UNSPECIFIED) {
      agent.corner_rule = of_profile->corner_rule;
    }
    if (requested.footprint == 0) {
      agent.footprint = of_profile->footprint;
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(std::optional<core::GridMap> own, Lay(*requested.overlay, snapshot.grid));
  return Movement(snapshot.grid, std::move(own), agent.corner_rule, agent.footprint);
}

bool LooksBelow(const RequestedMovement& requested) {
  return requested.overlay->ignored_obstacles_size() > 0;
}

}  // namespace waystar::rpc
