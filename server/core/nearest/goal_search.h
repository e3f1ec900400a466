// Searches for the nearest of several goals.
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/nearest/goal_set.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Both search from query.start, which is free, until the best of the goals is known, and return kGoalReached
// if there is one. `walk` is map.walk(query.footprint).

// Runs a jump point search; see RunJps. Each node looks for the goals that it sees itself, in the order in
// which they may be better than the best. REQUIRES: map.HasUniformCost(); goals.is_small().
SearchEnd RunGoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                       Scratch& scratch, GoalSet& goals, SearchStatistics& statistics);

// Runs A*, cell by cell, on any map.
SearchEnd RunGoalAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                       Scratch& scratch, GoalSet& goals, SearchStatistics& statistics);

}  // namespace waystar::core
