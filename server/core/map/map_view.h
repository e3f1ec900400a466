// Views: a map as agents of a movement profile see it.
#pragma once

#include <cstdint>
#include <memory>

#include "server/core/map/grid_map.h"
#include "server/core/map/movement_profile.h"

namespace waystar::core {

// Returns the map under other rules for its terrains, from the map's ProfileViews, which say what it costs.
// REQUIRES: the rules name the terrains of the map and are not those of the map itself.
std::shared_ptr<const GridMap> ViewUnder(const GridMap& map, const TerrainRules& rules);

// Returns about how many cells ViewUnder looks at: those of the bands of rows that have changed since the
// view was last asked for, or all; those whose cost an obstacle changes count 24 times.
std::uint64_t CellsToView(const GridMap& map, const TerrainRules& rules);

}  // namespace waystar::core
