// Views of a grid: the map as seen by agents of different movement profiles.
#pragma once

#include <cstdint>
#include <memory>

#include "server/core/elements/view_cache.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"

namespace waystar::core {

// Views share terrains and obstacles with their map and differ in step costs and passable terrains. Obstacles
// that change costs apply to the view: a factor multiplies the profile's cost of the terrain.
//
// To make a view takes time proportional to the map unless the profile has the same passable terrains. After
// an edit it takes time proportional to the bands of rows that differ, found by comparing pointers.
using ProfileViews = ViewCache<TerrainRules, GridMap>;

// Returns the map under other terrain rules, from its ProfileViews, which documents the cost.
// REQUIRES: the rules name the terrains of the map and differ from the map's own.
std::shared_ptr<const GridMap> ViewUnder(const GridMap& map, const TerrainRules& rules);

// Returns the approximate number of cells that ViewUnder reads: those in bands that changed since the view
// was last used, or all. Cells whose cost an obstacle changes count 24 times.
std::uint64_t CellsToView(const GridMap& map, const TerrainRules& rules);

}  // namespace waystar::core
