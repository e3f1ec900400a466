// Searches for the nearest of several goals.
#pragma once

#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/query.h"

namespace waystar::core {

// All of these search from query.start until the best of scratch.goals() is known. They report kGoalReached
// only if a goal was found. Otherwise they report the expanded cell nearest to query.goal; the scratch holds
// the path to it. They expand only cells that a search for a single goal would expand, and no more than
// Dijkstra's algorithm.
//
// REQUIRES: query.start is walkable; `walk` is map.walk(query.footprint).

// Jump point search; see RunJps. Each node checks which goals it sees.
// REQUIRES: map.HasUniformCost(); the map is 4- or 8-connected.
SearchReport RunGoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch);

// Cell-by-cell A*, for any map.
SearchReport RunGoalAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch);

// Runs the search that suits the map and query.algorithm; statistics.algorithm of the report names it.
SearchReport RunGoalSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                           const Budget& budget, Scratch& scratch);

}  // namespace waystar::core
