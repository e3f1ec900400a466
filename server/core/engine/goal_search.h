// Searches for the nearest of several goals.
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// All search from query.start, which is free, until the best of scratch.goals() is known. They report
// kGoalReached, and nothing else, if there is one; otherwise the cell nearest to query.goal of those that
// they expanded, to which the scratch holds the way. REQUIRES: `walk` is
// map.walk(query.footprint).
//
// They expand only what the search for one of the goals alone would, and no more than Dijkstra's algorithm.

// Runs a jump point search; see RunJps. Each node looks for the goals that it sees itself. REQUIRES:
// map.HasUniformCost(); the map is 4- or 8-connected.
SearchReport RunGoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch);

// Runs A*, cell by cell, on any map.
SearchReport RunGoalAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch);

// Runs the one of the two that suits the map and query.algorithm; see statistics.algorithm of its report.
SearchReport RunGoalSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                           const Budget& budget, Scratch& scratch);

}  // namespace waystar::core
