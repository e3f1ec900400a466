// Paths to the nearest of several goals.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Searches from query.start until the best of scratch.goals() is known, by jump point search or A*, as suits
// the map and query.algorithm; statistics.algorithm of the report names it. Reports kGoalReached only if a
// goal was found. Otherwise reports the expanded cell nearest to query.goal; the scratch holds the path to
// it. Expands only cells that a search for a single goal would expand, and no more than Dijkstra's algorithm.
// REQUIRES: query.start is walkable; `walk` is map.walk(query.footprint).
SearchReport RunGoalSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                           const Budget& budget, Scratch& scratch);

// Returns INVALID_ARGUMENT / MISSING_FIELD with "goals" for no goals, or RESOURCE_EXHAUSTED / TOO_MANY_ITEMS
// for more than kMaxGoals.
absl::Status CheckGoalCount(std::size_t goals);

// Returns the walkable goals, or FAILED_PRECONDITION / GOAL_BLOCKED with "goals" if there is none.
absl::StatusOr<std::vector<Cell>> FreeGoals(const WalkGrid& walk, absl::Span<const Cell> goals);

struct NearestGoalResult {
  PathResult path;
  // With Outcome::kFound, the index of the goal that the path leads to.
  std::size_t goal_index = 0;
};

// Checks that a query may have several goals. Returns INVALID_ARGUMENT / BAD_VALUE as FindPathToNearest does.
absl::Status CheckNearestQuery(const PathQuery& query);

// Returns the goal that is cheapest to reach from query.start, the first of the list among equals, and the
// path that FindPath finds to it; query.goal is ignored. One search determines the goal: jump point search or
// A* with the minimum of the heuristics of all goals. The statistics include that search and the search for
// the path. Blocked goals are skipped; the outcome is kUnreachable if no goal is reachable. With
// kBudgetExhausted the path may be the start alone.
//
// Returns the errors of FindPath, with "goals[i]" for a goal off the map, and FAILED_PRECONDITION /
// GOAL_BLOCKED with "goals" only if all are blocked; the errors of CheckGoalCount; INVALID_ARGUMENT /
// BAD_VALUE with "goals" for a policy other than kReport, and for Algorithm::kLazyThetaStar, whose costs are
// not those of steps.
absl::StatusOr<NearestGoalResult> FindPathToNearest(const GridMap& map, const PathQuery& query,
                                                    absl::Span<const Cell> goals, const Budget& budget,
                                                    Scratch& scratch);

}  // namespace waystar::core
