// Ray casting: the first blocked cell on a straight line between two positions.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/agent.h"

namespace waystar::core {

// A position among cells: the centre of cell (x, y) is the position (x, y).
struct CellPoint {
  double x = 0.0;
  double y = 0.0;

  friend bool operator==(const CellPoint&, const CellPoint&) = default;
};

struct RayHit {
  bool is_blocked = false;
  // The first cell on which the agent cannot be, or else the cell of the ray's end.
  Cell cell;
  // The last cell before it on which the agent can be, or that of the end; none if the ray begins blocked.
  std::optional<Cell> last_free;
  // Where the ray enters the cell, or its end, and how far that is of the whole way.
  CellPoint position;
  double fraction = 1.0;
};

// Casts a ray. Positions are rounded to the nearest 1/65536 of a cell; from there on all is computed exactly,
// in integers. A position on the border between cells is in the one to the right or below. Where the ray goes
// exactly through the point where four cells meet, it makes a diagonal step, which the corner rule must allow
// (never on 4-connected maps: LineRule). If it does not, the cell that is hit is the one ahead if that is
// blocked, else the blocked one of those beside the step, the one in the ray's row first. Between the centres
// of cells the ray is free if HasLineOfSight says so.
//
// Among hexagons every one that shares a point with the ray is in its way, even if it is only touched: a
// position on a border is in all hexagons that meet there, and on the map if one of them is.
//
// It costs some nanoseconds for each cell that the ray passes.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "from.x", "from.y", "to.x" or "to.y" for a value that is not
// finite, and with "footprint"; OUT_OF_RANGE / OFF_MAP with "from" or "to".
absl::StatusOr<RayHit> CastRay(const GridMap& map, const Agent& agent, CellPoint from, CellPoint to);

}  // namespace waystar::core
