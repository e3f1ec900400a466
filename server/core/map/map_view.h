// Makes the views of ProfileViews.
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/map/movement_profile.h"

namespace waystar::core {

// The map with other rules for its terrains. Shares what it can: where the same terrains are passable, that
// is all but the costs of single cells. Costs time in proportion to the map elsewhere.
GridMap MakeView(const GridMap& map, const TerrainRules& rules);

// The view of `map`, given one of a state of it before or after. Costs time in proportion to what differs, in
// bands of rows.
GridMap RepairedView(const GridMap& view, const GridMap& map);

}  // namespace waystar::core
