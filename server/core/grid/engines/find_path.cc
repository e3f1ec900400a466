#include "server/core/grid/engines/find_path.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/grid/cells/static_index.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/core/grid/hierarchy/hierarchy_search.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/direct_way.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/core/search/recorder.h"

namespace waystar::core {
namespace {

absl::Status Unsuited(absl::string_view message) {
  return MakeError(ErrorReason::kAlgorithmUnsuited, "algorithm", message);
}

// Returns true if a Hierarchy can answer the query.
bool SuitsHierarchy(const GridMap& map, const PathQuery& query) {
  return map.HasUniformCost() && map.settings().connectivity == Connectivity::kEight &&
         query.corner_rule == CornerRule::kNoCornerCutting && query.footprint == 1;
}

// Returns the algorithm to run for a query; never kAuto.
absl::StatusOr<Algorithm> Resolve(const GridMap& map, const PathQuery& query) {
  if (map.settings().connectivity == Connectivity::kSix) {
    if (query.algorithm == Algorithm::kAuto) {
      return Algorithm::kAStar;
    }
    if (query.algorithm != Algorithm::kAStar && query.algorithm != Algorithm::kDijkstra) {
      return Unsuited("maps of hexagons are searched by A* or Dijkstra's algorithm");
    }
    return query.algorithm;
  }
  const bool has_jumps =
      map.HasUniformCost() || (map.settings().connectivity == Connectivity::kEight && query.footprint == 1);
  switch (query.algorithm) {
    case Algorithm::kAuto:
      return has_jumps && (map.HasUniformCost() || !map.HasNoisyCosts()) ? Algorithm::kJumpPoint
                                                                         : Algorithm::kAStar;
    case Algorithm::kJumpPoint:
      if (!has_jumps) {
        return Unsuited(
            "where cells differ in cost, jump point search is for 8-connected maps and agents of one "
            "cell");
      }
      break;
    case Algorithm::kSubgoalHierarchy:
      if (!SuitsHierarchy(map, query)) {
        return Unsuited(
            "the hierarchy is for agents of one cell that cut no corners, on 8-connected maps whose cells "
            "cost the "
            "same");
      }
      map.static_index().Want();
      return map.static_index().held() != nullptr ? Algorithm::kSubgoalHierarchy : Algorithm::kJumpPoint;
    case Algorithm::kLazyThetaStar:
      if (!map.HasUniformCost()) {
        return Unsuited("Lazy Theta* is for maps whose cells cost the same");
      }
      if (query.path_form == PathForm::kDirections) {
        return MakeError(ErrorReason::kBadValue, "path_form",
                         "a path of any angle has no directions: ask for its points");
      }
      break;
    case Algorithm::kPolyanya:
      return Unsuited("Polyanya searches navigation meshes");
    case Algorithm::kAStar:
    case Algorithm::kDijkstra:
      break;
  }
  return query.algorithm;
}

// One query in progress. `query_.algorithm` is not kAuto.
template <typename Recorder>
class Finder {
 public:
  Finder(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
         Scratch& scratch, Recorder& recorder)
      : map_(map), walk_(walk), query_(query), budget_(budget), scratch_(scratch), recorder_(recorder) {}

  absl::StatusOr<PathResult> Find() {
    statistics_.algorithm = query_.algorithm;
    if (IsInSight()) {
      return IsForbidden() ? NoCheapPath(LeastCost(query_.start)) : DirectResult();
    }
    const Components& components = walk_.components(AdjacencyOf(map_, query_.corner_rule));
    if (components.AreConnected(query_.start, query_.goal)) {
      if (IsForbidden()) {
        return NoCheapPath(LeastCost(query_.start));
      }
      return ResultOf(SearchTo(query_.goal), Outcome::kFound, OutcomeReason::kGoalReached);
    }
    const OutcomeReason reason =
        walk_.IsWalkable(query_.goal) ? OutcomeReason::kNoRoute : OutcomeReason::kGoalBlocked;
    if (query_.unreachable_policy == UnreachablePolicy::kReport) {
      scratch_.ClearPath();
      return PathResult{.outcome = Outcome::kUnreachable, .reason = reason, .statistics = statistics_};
    }
    return ResultOf(SearchToNearest(components), Outcome::kPartial, reason);
  }

 private:
  // Returns true if jumps would lead directly from the start to the goal. Neither components nor an open list
  // are then needed.
  bool IsInSight() const {
    return query_.algorithm == Algorithm::kJumpPoint && map_.HasUniformCost() &&
           walk_.IsWalkable(query_.goal) && !BudgetEndAtFirst(budget_) &&
           IsDirectAndNear(walk_, map_.settings().connectivity, query_.corner_rule, query_.start,
                           query_.goal);
  }

  // Returns true if the goal is too far from the start for any path over steps.
  bool IsForbidden() const {
    return budget_.max_cost != Budget().max_cost && query_.algorithm != Algorithm::kLazyThetaStar &&
           LeastCost(query_.start) > budget_.max_cost;
  }

  PathResult NoCheapPath(Cost least) {
    scratch_.ClearPath();
    return TooCostly(CostToDouble(least), statistics_);
  }

  PathResult DirectResult() {
    const Cell start = query_.start;
    const Cell goal = query_.goal;
    PathResult result{.outcome = Outcome::kFound,
                      .reason = OutcomeReason::kGoalReached,
                      .end = goal,
                      .statistics = statistics_};
    scratch_.ClearPath();
    std::vector<Cell>& corners = scratch_.corners();
    corners.push_back(start);
    if (start != goal) {
      const Cell turn = TurnTowards(map_.settings().connectivity, start, goal);
      if (turn != start && turn != goal) {
        corners.push_back(turn);
      }
      corners.push_back(goal);
      result.statistics.expanded = 1;
      result.statistics.generated = 2;
      const Cost cost = OctileHeuristic(map_, goal)(start);
      recorder_.Generated(start, start, 0, cost);
      recorder_.Expanded(start, 0, cost);
      recorder_.Generated(goal, start, cost, cost);
    }
    WritePathForm(map_, walk_, query_, scratch_, result);
    return result;
  }

  SearchReport SearchTo(Cell goal) {
    Budget left = budget_;
    left.max_expansions -= statistics_.expanded;
    query_.goal = goal;
    SearchReport report;
    switch (query_.algorithm) {
      case Algorithm::kJumpPoint:
        report = map_.HasUniformCost() ? RunJps(map_, walk_, query_, left, scratch_, recorder_)
                                       : RunWeightedJps(map_, query_, left, scratch_, recorder_);
        break;
      case Algorithm::kSubgoalHierarchy:
        report = SearchByHierarchy(left);
        break;
      case Algorithm::kLazyThetaStar:
        report = RunLazyThetaStar(map_, walk_, query_, left, scratch_, recorder_);
        break;
      default:
        report = RunAStar(map_, walk_, query_, left, scratch_, recorder_);
        break;
    }
    Count(report);
    // The hierarchy does not end at the limit itself.
    if (report.end == SearchEnd::kGoalReached && report.cost > left.max_cost &&
        query_.algorithm != Algorithm::kLazyThetaStar) {
      report.end = SearchEnd::kCostLimit;
      report.least_cost = report.cost;
    }
    return report;
  }

  // Searches by the hierarchy. If its answer does not hold for this state of the map, searches by jumps.
  SearchReport SearchByHierarchy(Budget left) {
    if (const std::shared_ptr<const StaticIndexSlot::Held> held = map_.static_index().held();
        held != nullptr && (held->changed.empty() || MayUse(held->index->cells()))) {
      const auto& hierarchy = static_cast<const Hierarchy&>(*held->index);
      Budget budget = left;
      // Jumps may need the rest.
      budget.max_expansions /= held->changed.empty() ? 1 : 2;
      const SearchReport report = RunHierarchy(hierarchy, query_, budget, scratch_, recorder_);
      if (held->changed.empty() || IsInterrupted(report.end) || StillHolds(report, *held)) {
        return report;
      }
      Count(report);
      left.max_expansions -= std::min(left.max_expansions, report.statistics.expanded);
    }
    query_.algorithm = statistics_.algorithm = Algorithm::kJumpPoint;
    return RunJps(map_, walk_, query_, left, scratch_, recorder_);
  }

  static bool IsInterrupted(SearchEnd end) {
    return end == SearchEnd::kDeadline || end == SearchEnd::kCancelled || end == SearchEnd::kEvicted;
  }

  // Returns true if a hierarchy of earlier cells may answer. A trace shows expansions, so it needs the
  // current cells.
  bool MayUse(const WalkCells& cells) const {
    return std::is_same_v<Recorder, NoRecorder> && cells.IsWalkable(query_.start) &&
           cells.IsWalkable(query_.goal);
  }

  // Returns true if the path of an earlier state of the map is still one, and no path through a cell that has
  // become walkable since, or around its corner, can be cheaper.
  bool StillHolds(const SearchReport& report, const StaticIndexSlot::Held& held) const {
    if (report.end != SearchEnd::kGoalReached) {
      return false;
    }
    const Cost straight = map_.min_straight();
    const auto distance = [&](Cell from, Cell to) {
      return OctileCost(from, to, straight, map_.min_diagonal());
    };
    if (report.cost > distance(query_.start, query_.goal)) {
      for (const Cell cell : held.freed) {
        // A diagonal step past the cell replaces two straight steps through it.
        if (distance(query_.start, cell) + distance(cell, query_.goal) <
            report.cost + 2 * straight - map_.min_diagonal()) {
          return false;
        }
      }
    }
    const NodeTable& nodes = scratch_.nodes();
    for (NodeIndex node = nodes.Find(query_.goal); nodes[node].parent != node; node = nodes[node].parent) {
      const Cell from = Unpack(nodes[nodes[node].parent].cell);
      const Cell to = Unpack(nodes[node].cell);
      if (!walk_.IsWalkable(from) || !walk_.IsWalkable(to) ||
          !IsDirect(walk_, Connectivity::kEight, query_.corner_rule, from, to)) {
        return false;
      }
    }
    return true;
  }

  void Count(const SearchReport& report) {
    statistics_.expanded += report.statistics.expanded;
    statistics_.generated += report.statistics.generated;
  }

  // Searches for the cheapest of the reachable cells nearest to the goal; the first among equals.
  SearchReport SearchToNearest(const Components& components) {
    query_.tolerance = 0.0;
    std::vector<Cell>& candidates = scratch_.candidates();
    candidates.clear();
    NearestConnected(components, query_.start, query_.goal, scratch_.nearest_connected_buffer(), candidates);
    if (candidates.size() <= (IsOfCostlyCells() ? kFewCandidates : 1) ||
        query_.algorithm == Algorithm::kLazyThetaStar) {
      return SearchToEach(candidates);
    }
    GoalSet& goals = scratch_.goals();
    goals.Start(map_);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      goals.Add(candidates[i], i);
    }
    goals.Finish();
    const SearchReport report = RunGoalSearch(map_, walk_, query_, budget_, scratch_);
    Count(report);
    if (report.end == SearchEnd::kGoalReached) {
      return SearchTo(candidates[goals.best_index()]);
    }
    // The search was interrupted; the path leads as far as it came.
    query_.algorithm = report.statistics.algorithm;
    return report;
  }

  // Returns true if searches for one goal use jumps and RunGoalSearch does not.
  bool IsOfCostlyCells() const { return query_.algorithm == Algorithm::kJumpPoint && !map_.HasUniformCost(); }

  SearchReport SearchToEach(absl::Span<const Cell> candidates) {
    SearchReport best;
    for (const Cell candidate : candidates) {
      const SearchReport report = SearchTo(candidate);
      if (report.end != SearchEnd::kGoalReached) {
        return report;
      }
      if (candidate == candidates.front() || report.cost < best.cost) {
        best = report;
      }
    }
    // The scratch holds the last search; repeat the best one for its path.
    return best.nearest == candidates.back() ? best : SearchTo(best.nearest);
  }

  // Returns true if the algorithm weighs its heuristic by the tolerance.
  bool IsWeighted() const {
    return query_.algorithm == Algorithm::kAStar || query_.algorithm == Algorithm::kJumpPoint;
  }

  // Returns a lower bound on the cost of a path from the cell to the goal.
  Cost LeastCost(Cell cell) const {
    return map_.HasUniformCost() ? OctileHeuristic(map_, query_.goal)(cell)
                                 : CostFloorHeuristic(map_, query_.goal)(cell);
  }

  absl::StatusOr<PathResult> ResultOf(const SearchReport& report, Outcome outcome, OutcomeReason reason) {
    switch (report.end) {
      case SearchEnd::kGoalReached:
      case SearchEnd::kExhausted:
        break;
      case SearchEnd::kExpansionLimit:
        outcome = Outcome::kBudgetExhausted;
        reason = OutcomeReason::kExpansionLimit;
        break;
      case SearchEnd::kScratchLimit:
        outcome = Outcome::kBudgetExhausted;
        reason = OutcomeReason::kScratchLimit;
        break;
      case SearchEnd::kCostLimit:
        return NoCheapPath(report.least_cost);
      case SearchEnd::kDeadline:
      case SearchEnd::kCancelled:
      case SearchEnd::kEvicted:
        return InterruptionError(report.end, statistics_.expanded);
    }
    PathResult result{.outcome = outcome, .reason = reason, .end = report.nearest, .statistics = statistics_};
    if (query_.tolerance > 0.0 && outcome == Outcome::kFound && IsWeighted()) {
      result.bound =
          ProvedBound(query_.tolerance, CostToDouble(report.cost), CostToDouble(LeastCost(query_.start)));
    }
    std::vector<Cell>& corners = scratch_.corners();
    switch (query_.algorithm) {
      case Algorithm::kLazyThetaStar:
        TraceLines(result.end, scratch_.nodes(), corners);
        WriteSmoothed(map_, walk_, query_, corners, result);
        return outcome == Outcome::kFound && CostFromDouble(result.cost) > budget_.max_cost
                   ? NoCheapPath(CostFromDouble(result.cost))
                   : result;
      case Algorithm::kJumpPoint:
      case Algorithm::kSubgoalHierarchy:
        TraceJumps(map_.settings().connectivity, result.end, scratch_.nodes(), corners);
        break;
      default:
        TraceSteps(query_.start, result.end, scratch_, corners);
        break;
    }
    WritePathForm(map_, walk_, query_, scratch_, result);
    return result;
  }

  // Number of single searches with jumps that take about as long as one search for all candidates without.
  static constexpr std::size_t kFewCandidates = 4;

  const GridMap& map_;
  const WalkGrid& walk_;
  PathQuery query_;
  const Budget& budget_;
  Scratch& scratch_;
  Recorder& recorder_;
  // Sum over all searches for this query.
  SearchStatistics statistics_;
};

template <typename Recorder>
absl::StatusOr<PathResult> FindPathWith(const GridMap& map, const PathQuery& query, const Budget& budget,
                                        Scratch& scratch, Recorder& recorder) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "goal", query.goal));
  PathQuery resolved = query;
  WAYSTAR_ASSIGN_OR_RETURN(resolved.algorithm, Resolve(map, query));
  // The map owns the grid of agents of one cell.
  const std::shared_ptr<const WalkGrid> made = query.footprint == 1 ? nullptr : map.walk(query.footprint);
  const WalkGrid& walk = made == nullptr ? map.walk() : *made;
  WAYSTAR_RETURN_IF_ERROR(
      CheckWalkable(map, walk, query.footprint, "start", query.start, ErrorReason::kStartBlocked));
  if (query.unreachable_policy == UnreachablePolicy::kReport) {
    WAYSTAR_RETURN_IF_ERROR(
        CheckWalkable(map, walk, query.footprint, "goal", query.goal, ErrorReason::kGoalBlocked));
  }
  return Finder<Recorder>(map, walk, resolved, budget, scratch, recorder).Find();
}

}  // namespace

absl::StatusOr<PathResult> FindPath(const GridMap& map, const PathQuery& query, const Budget& budget,
                                    Scratch& scratch) {
  NoRecorder recorder;
  return FindPathWith(map, query, budget, scratch, recorder);
}

absl::StatusOr<PathResult> TraceSearch(const GridMap& map, const PathQuery& query, const Budget& budget,
                                       Scratch& scratch, EventRecorder& recorder) {
  return FindPathWith(map, query, budget, scratch, recorder);
}

}  // namespace waystar::core
