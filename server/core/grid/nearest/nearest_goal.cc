#include "server/core/grid/nearest/nearest_goal.h"

#include <memory>
#include <utility>
#include <vector>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/reachability.h"
#include "server/core/grid/walk/footprint.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

// Returns the result if a budget ran out before the nearest goal was known.
PathResult StartAlone(const PathQuery& query, SearchEnd end, Scratch& scratch) {
  scratch.ClearPath();
  PathResult result{.outcome = Outcome::kBudgetExhausted,
                    .reason = end == SearchEnd::kScratchLimit ? OutcomeReason::kScratchLimit
                                                              : OutcomeReason::kExpansionLimit,
                    .end = query.start};
  if (query.path_form != PathForm::kDirections) {
    scratch.points().push_back(query.start);
    result.points = scratch.points();
  }
  return result;
}

}  // namespace

absl::Status CheckGoalCount(std::size_t goals) {
  if (goals == 0) {
    return MakeError(ErrorReason::kMissingField, "goals", "at least one goal is needed");
  }
  return CheckCount("goals", goals, kMaxGoals);
}

absl::StatusOr<std::vector<Cell>> FreeGoals(const WalkGrid& walk, absl::Span<const Cell> goals) {
  std::vector<Cell> free;
  for (const Cell goal : goals) {
    if (walk.IsWalkable(goal)) {
      free.push_back(goal);
    }
  }
  if (free.empty()) {
    return MakeError(ErrorReason::kGoalBlocked, "goals", "all goals are blocked");
  }
  return free;
}

absl::Status CheckNearestQuery(const PathQuery& query) {
  if (query.unreachable_policy != UnreachablePolicy::kReport) {
    return MakeError(ErrorReason::kBadValue, "goals",
                     "with several goals unreachable_policy can only be REPORT");
  }
  if (query.algorithm == Algorithm::kLazyThetaStar) {
    return MakeError(ErrorReason::kBadValue, "goals",
                     "the nearest of several goals is told by paths from cell to cell, which Lazy "
                     "Theta* does not find");
  }
  return absl::OkStatus();
}

absl::StatusOr<NearestGoalResult> FindPathToNearest(const GridMap& map, const PathQuery& query,
                                                    absl::Span<const Cell> goals, const Budget& budget,
                                                    Scratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckNearestQuery(query));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(goals.size()));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckAllOnMap(map, "goals", goals));
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.footprint);
  WAYSTAR_RETURN_IF_ERROR(CheckFree(map, *walk, "start", query.start, ErrorReason::kStartBlocked));
  WAYSTAR_RETURN_IF_ERROR(FreeGoals(*walk, goals).status());

  const Components& components = walk->components(AdjacencyOf(map, query.corner_rule));
  GoalSet& set = scratch.goals();
  set.Start(map);
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (components.AreConnected(query.start, goals[i])) {
      set.Add(goals[i], i);
    }
  }
  if (set.goals().empty()) {
    scratch.ClearPath();
    return NearestGoalResult{.path = {.outcome = Outcome::kUnreachable, .reason = OutcomeReason::kNoRoute}};
  }
  set.Finish();
  SearchStatistics statistics;
  std::size_t nearest = set.goals().front().index;
  if (set.goals().size() > 1) {
    const SearchReport report = RunGoalSearch(map, *walk, query, budget, scratch);
    statistics = report.statistics;
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(report.end, statistics.expanded));
    if (report.end != SearchEnd::kGoalReached) {
      NearestGoalResult result{.path = StartAlone(query, report.end, scratch)};
      result.path.statistics = statistics;
      return result;
    }
    nearest = set.best_index();
  }
  PathQuery to_nearest = query;
  to_nearest.goal = goals[nearest];
  Budget left = budget;
  left.max_expansions -= statistics.expanded;
  WAYSTAR_ASSIGN_OR_RETURN(PathResult path, FindPath(map, to_nearest, left, scratch));
  path.statistics.expanded += statistics.expanded;
  path.statistics.generated += statistics.generated;
  return NearestGoalResult{.path = path, .goal_index = nearest};
}

}  // namespace waystar::core
