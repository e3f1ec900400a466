// Snapping of positions to the nearest cell where an agent can stand.
#pragma once

#include <optional>

#include "server/core/grid/cell.h"
#include "server/core/grid/world_frame.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Return the cell of `walk` whose centre is nearest to the position, or to the centre of `from`, and at most
// `radius` away, in the units of the game; among equals the first in row-major order. Return nothing if there
// is none. The cost is proportional to the rows within the radius, and at worst to their words of 64 cells.
//
// From a position distances are computed in doubles, each operation rounded by itself. From a cell, which may
// lie off the map, they are whole numbers; a radius that is a distance to within 1e-12 of it reaches so far,
// because 0.3 is a little less than three cells of 0.1 when all are doubles.
//
// REQUIRES: the position's parts are finite; 0 <= radius.
std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, const Position& position,
                                double radius);
std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, Cell from, double radius);

}  // namespace waystar::core
