// What a straight line between two positions comes to first.
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
  // The first cell on which the agent cannot be; else that of the ray's end.
  Cell cell;
  // The last one before it on which it can, or that of the end. Nothing if the ray begins blocked.
  std::optional<Cell> last_free;
  // Where the ray comes to the cell, or its end, and how far that is of the whole way.
  CellPoint position;
  double fraction = 1.0;
};

// Positions are taken to the nearest 1/65536 of a cell; from there all is computed in whole numbers, and so
// exact. A position on the border between cells is in the one to the right or below. Where the ray goes
// exactly through the point where four cells meet, it makes a diagonal step, which the corner rule must allow
// (never on 4-connected maps: LineRule); if it does not, the cell that is hit is the one ahead if
// that is blocked, else the blocked one of those beside the step, the one in the ray's row first. Between the
// centres of cells the ray is free if HasLineOfSight says so.
//
// Among hexagons each one that the ray has a point of is in its way, those that it only touches too: a
// position on a border is in all hexagons that meet there, and on the map if one of them is.
//
// Costs some nanoseconds for each cell that the ray passes.
//
// Errors: INVALID_ARGUMENT / BAD_VALUE with "from.x", "from.y", "to.x" or "to.y" for what is no finite
// number, and with "footprint"; OUT_OF_RANGE / OFF_MAP with "from" or "to".
absl::StatusOr<RayHit> CastRay(const GridMap& map, const Agent& agent, CellPoint from, CellPoint to);

}  // namespace waystar::core
