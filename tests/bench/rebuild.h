// Makes a map afresh, the way that a client's whole map comes in.
#pragma once

#include <vector>

#include "server/core/grid/map/grid_map.h"

namespace waystar::bench {

// A map's cells, row by row, as GridMapEditor::SetRow takes them.
using CellRows = std::vector<std::vector<core::TerrainId>>;

CellRows RowsOf(const core::GridMap& map);

// REQUIRES: rows of equal length, of terrains that `settings` has.
core::GridMap MakeMap(const CellRows& rows, const core::GridSettings& settings);

}  // namespace waystar::bench
