// Snapping of positions to the nearest cell where an agent can stand.
#pragma once

#include <optional>

#include "server/core/grid/cell.h"
#include "server/core/grid/world_frame.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Returns the cell of `walk` whose centre is nearest to the position and at most `radius` away, in the units
// of the game; among equals the first in row-major order. Returns nothing if there is none. The cost is
// proportional to the rows within the radius, and at worst to their words of 64 cells. REQUIRES: the
// position's parts are finite; 0 <= radius.
std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, const Position& position,
                                double radius);

}  // namespace waystar::core
