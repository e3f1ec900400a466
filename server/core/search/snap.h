// The nearest place where an agent can stand.
#pragma once

#include <optional>

#include "server/core/grid/cell.h"
#include "server/core/grid/world_frame.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// The cell of `walk` whose centre is nearest to the position, and not further away than `radius`, in the
// units of the game; among equals the first in row-major order. Nothing if there is none. Costs in proportion
// to the rows within the radius, and at the worst to their words of 64 cells.
// REQUIRES: the position's parts are finite; 0 <= radius.
std::optional<Cell> NearestFree(const WalkGrid& walk, const WorldFrame& frame, const Position& position,
                                double radius);

}  // namespace waystar::core
