// Ray casting: the first blocked cell on a straight line between two positions.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Position among cells: the centre of cell (x, y) is (x, y).
struct CellPoint {
  double x = 0.0;
  double y = 0.0;

  friend bool operator==(const CellPoint&, const CellPoint&) = default;
};

struct RayHit {
  bool is_blocked = false;
  // First cell where the agent cannot stand; if none, the cell of the ray's end.
  Cell cell;
  // Last cell before it where the agent can stand, or the cell of the end; none if the ray starts blocked.
  std::optional<Cell> last_free;
  // Point where the ray enters the cell, or its end, and the fraction of the ray's length up to there.
  CellPoint position;
  double fraction = 1.0;
};

// Casts a ray. Positions are rounded to the nearest 1/65536 of a cell; all further computation is exact, in
// integers. A position on the border between cells belongs to the cell to the right or below. Where the ray
// passes exactly through the point where four cells meet, it makes a diagonal step, which the corner rule
// must allow (never on 4-connected maps: LineRule). If it does not, the hit cell is the one ahead if that is
// blocked, else the blocked one of those beside the step, the one in the ray's row first. Between centres of
// cells the result agrees with HasLineOfSight.
//
// Among hexagons the ray passes every one that shares a point with it, even if it is only touched. A position
// on a border is in all hexagons that meet there, and on the map if one of them is.
//
// Costs several nanoseconds per cell on the ray.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "from.x", "from.y", "to.x" or "to.y" for a value that is not
// finite, or with "footprint"; OUT_OF_RANGE / OFF_MAP with "from" or "to".
absl::StatusOr<RayHit> CastRay(const GridMap& map, const Agent& agent, CellPoint from, CellPoint to);

}  // namespace waystar::core
