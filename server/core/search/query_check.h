// Checks of the cells that a query names.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Returns OUT_OF_RANGE / OFF_MAP with that field, whose name stands for the cell in messages.
absl::Status CheckOnMap(const GridMap& map, absl::string_view field, Cell cell);

// Returns FAILED_PRECONDITION with that reason unless an agent of `footprint` x `footprint` cells may stand
// there. REQUIRES: `walk` is map.walk(footprint); the cell is on the map.
absl::Status CheckWalkable(const GridMap& map, const WalkGrid& walk, int footprint, absl::string_view field,
                           Cell cell, ErrorReason reason);

}  // namespace waystar::core
