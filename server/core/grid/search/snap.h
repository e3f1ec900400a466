// Snapping of positions to the nearest walkable cell.
#pragma once

#include <optional>

#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Return the cell of `walk` whose centre is nearest to the position, or to the centre of `from`, within
// `radius` in game units; among equals, the first in row-major order. Return nullopt if there is none. Cost
// is proportional to the rows within the radius, in the worst case to their words of 64 cells.
//
// Distances from a position are computed in doubles, with each operation rounded separately. Distances from a
// cell, which may lie outside the map, are exact integers. There the radius is enlarged by a relative 1e-12,
// because in doubles 0.3 is slightly less than three cells of 0.1.
//
// REQUIRES: the position is finite; 0 <= radius.
std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, const WorldPoint& position,
                                double radius);
std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, Cell from, double radius);

}  // namespace waystar::core
