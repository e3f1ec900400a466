#include "server/rpc/placement.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/world_frame.h"
#include "server/core/search/snap.h"
#include "server/core/walk/walk_grid.h"
#include "server/rpc/convert.h"

namespace waystar::rpc {
namespace {

// `position` is null if the cell is what was given.
absl::Status Place(const core::GridMap& map, int footprint, double snap_radius, absl::string_view field,
                   const v1::Position* position, core::Cell& cell) {
  const core::WorldFrame& frame = map.settings().frame;
  if (position != nullptr) {
    cell = frame.CellAt(ToPosition(*position));
  }
  if (snap_radius > 0) {
    const std::shared_ptr<const core::WalkGrid> walk = map.walk(footprint);
    if (!walk->IsWalkable(cell)) {
      const core::Position from = position != nullptr ? ToPosition(*position) : frame.CenterOf(cell);
      cell = core::NearestFree(*walk, frame, from, snap_radius).value_or(cell);
    }
  }
  if (position != nullptr && !map.Contains(cell)) {
    return MakeError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, field,
                     absl::StrCat("(", position->x(), ", ", position->y(), ") is off the map"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PlaceEnds(const v1::FindPathRequest& request, const Movement& movement,
                       const core::GridMap* goal_map, core::PathQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(Place(movement.map(), movement.footprint(), request.snap_radius(), "start_position",
                                request.has_start_position() ? &request.start_position() : nullptr,
                                query.start));
  if (goal_map == nullptr) {
    return absl::OkStatus();
  }
  return Place(*goal_map, movement.footprint(), request.snap_radius(), "goal_position",
               request.has_goal_position() ? &request.goal_position() : nullptr, query.goal);
}

absl::Status OfPositions(const absl::Status& status, const v1::FindPathRequest& request) {
  const std::string field = ErrorFieldOf(status);
  const bool is_of_position =
      (field == "start" && request.has_start_position()) || (field == "goal" && request.has_goal_position());
  return is_of_position ? WithField(status, absl::StrCat(field, "_position")) : status;
}

}  // namespace waystar::rpc
