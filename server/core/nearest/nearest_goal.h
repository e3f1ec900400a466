// Path queries to the nearest of several goals.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Returns INVALID_ARGUMENT / MISSING_FIELD with "goals" if there are none, and RESOURCE_EXHAUSTED /
// TOO_MANY_ITEMS if there are more than kMaxGoals.
absl::Status CheckGoalCount(std::size_t goals);

// Returns the goals that are free, or FAILED_PRECONDITION / GOAL_BLOCKED with "goals" if none is.
absl::StatusOr<std::vector<Cell>> FreeGoals(const WalkGrid& walk, absl::Span<const Cell> goals);

struct NearestGoalResult {
  PathResult path;
  // The index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
};

// Checks whether a query may have several goals. Returns INVALID_ARGUMENT / BAD_VALUE as FindPathToNearest
// does.
absl::Status CheckNearestQuery(const PathQuery& query);

// Returns the goal that is cheapest to reach from query.start, among equally cheap ones the first of the
// list, and the path that FindPath finds to it; query.goal is ignored. One search finds which it is: jump
// point search or A* by the least of the heuristics of all goals. The statistics are of that search and of
// the path's together. Blocked goals are skipped; the outcome is kUnreachable if a path leads to none. With
// kBudgetExhausted the path may be the start alone.
//
// Returns the errors of FindPath, with "goals[i]" for a goal off the map, and FAILED_PRECONDITION /
// GOAL_BLOCKED with "goals" only if all of them are blocked; INVALID_ARGUMENT / MISSING_FIELD and
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "goals"; INVALID_ARGUMENT / BAD_VALUE with "goals" for a policy
// other than kReport, and for Algorithm::kLazyThetaStar, whose costs are not those of steps.
absl::StatusOr<NearestGoalResult> FindPathToNearest(const GridMap& map, const PathQuery& query,
                                                    absl::Span<const Cell> goals, const Budget& budget,
                                                    Scratch& scratch);

}  // namespace waystar::core
