// Builds and repairs the views of ProfileViews.
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/map/movement_profile.h"

namespace waystar::core {

// Returns the map under other rules for its terrains. The view shares what it can: where the same terrains
// are passable, all but the costs of single cells. Otherwise the time is proportional to the map.
GridMap MakeView(const GridMap& map, const TerrainRules& rules);

// Returns the view of `map`, given the view of an earlier or later state of it. The time is proportional to
// the bands of rows that differ.
GridMap RepairedView(const GridMap& view, const GridMap& map);

}  // namespace waystar::core
