// Views: a map as seen by agents with a movement profile.
#pragma once

#include <cstdint>
#include <memory>

#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"

namespace waystar::core {

// Returns the map under other terrain rules, from its ProfileViews, which documents the cost.
// REQUIRES: the rules name the terrains of the map and differ from the map's own.
std::shared_ptr<const GridMap> ViewUnder(const GridMap& map, const TerrainRules& rules);

// Returns the approximate number of cells that ViewUnder reads: those in bands that changed since the view
// was last used, or all. Cells whose cost an obstacle changes count 24 times.
std::uint64_t CellsToView(const GridMap& map, const TerrainRules& rules);

}  // namespace waystar::core
