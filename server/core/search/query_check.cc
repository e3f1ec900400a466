#include "server/core/search/query_check.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

absl::Status CheckOnMap(const GridMap& map, absl::string_view field, Cell cell) {
  if (map.Contains(cell)) {
    return absl::OkStatus();
  }
  return MakeError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, field,
                   absl::StrCat("the ", field, " (", cell.x, ", ", cell.y, ") is off the map, which is ",
                                map.width(), " x ", map.height(), " cells"));
}

absl::Status CheckWalkable(const GridMap& map, const WalkGrid& walk, int footprint, absl::string_view field,
                           Cell cell, ErrorReason reason) {
  if (walk.IsWalkable(cell)) {
    return absl::OkStatus();
  }
  const std::string where = absl::StrCat("the ", field, " (", cell.x, ", ", cell.y, ")");
  std::string message;
  if (footprint > 1) {
    message = absl::StrCat("an agent of ", footprint, " x ", footprint, " cells does not fit on ", where);
  } else if (map.HasObstacle(cell)) {
    message = absl::StrCat(where, " is blocked by an obstacle");
  } else {
    message = absl::StrCat(
        where, " is blocked by impassable terrain: ", map.settings().terrains[map.TerrainAt(cell)].name);
  }
  return MakeError(absl::StatusCode::kFailedPrecondition, reason, field, message);
}

}  // namespace waystar::core
