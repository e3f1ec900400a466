#include "server/core/grid/engines/goal_search.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "server/base/error.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/jumps.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/direct_way.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

namespace {

// Jump point search; see RunJps. Each node checks which goals it sees.
// REQUIRES: map.HasUniformCost(); the map is 4- or 8-connected.
class GoalJumps {
 public:
  GoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
            Scratch& scratch)
      : map_(map), walk_(walk), query_(query), budget_(budget), scratch_(scratch), goals_(scratch.goals()) {}

  SearchReport Run() {
    const SearchEnd end =
        RunWithJumps(map_, walk_, query_.corner_rule, *this, [&](auto jumps) { return Search(jumps); });
    const NearestCell nearest = end == SearchEnd::kGoalReached ? NearestCell(query_.start, query_.goal)
                                                               : NearestExpanded(scratch_.nodes(), query_);
    return {.end = end,
            .nearest = nearest.cell(),
            .cost = nearest.cost(),
            .least_cost = least_pruned_,
            .statistics = statistics_};
  }

  // Called by jumps; see EightConnectedJumps.
  static constexpr Cell goal() { return {-2, -2}; }
  static void ReachGoal(Cost /*g*/) {}
  void Reach(Cell cell, Cost g, DirectionSet directions) {
    const Cost f = g + goals_.Heuristic(cell);
    if (!goals_.MayImprove(cell, g, f)) {
      least_pruned_ = std::min(least_pruned_, f);
      return;
    }
    const NodeIndex index = scratch_.FindOrAddNode(cell);
    if (index == kNoNode) {
      is_full_ = true;
      return;
    }
    JumpNode& node = scratch_.nodes()[index];
    if (!node.Reach(g, current_, directions)) {
      return;
    }
    ++statistics_.generated;
    is_full_ = is_full_ || (node.todo != 0 && !scratch_.PushJump(f, index));
    if (directions == 0) {
      LookAround(cell, g);
    }
  }

 private:
  template <typename Jumper>
  SearchEnd Search(Jumper jumps) {
    const Cost lowest = goals_.Heuristic(query_.start);
    scratch_.StartJumps(
        lowest, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(map_.min_straight()))) - 2);
    Reach(query_.start, 0,
          GridMoves::For(map_.settings().connectivity, query_.corner_rule).From(walk_, query_.start));
    BucketQueue& open = scratch_.buckets();
    while (!is_full_ && !open.empty()) {
      const BucketQueue::Entry entry = open.Pop();
      if (open.Floor() > goals_.best_cost()) {
        break;
      }
      JumpNode& node = scratch_.nodes()[entry.node];
      const DirectionSet directions = node.todo;
      if (directions == 0) {
        continue;
      }
      const Cell cell = Unpack(node.cell);
      const Cost g = node.g;
      if (goals_.is_found() && !goals_.MayImprove(cell, g, g + goals_.Heuristic(cell))) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      ++statistics_.expanded;
      current_ = entry.node;
      node.done |= directions;
      node.todo = 0;
      LookAround(cell, g);
      jumps(cell, g, directions);
    }
    if (is_full_) {
      return SearchEnd::kScratchLimit;
    }
    if (goals_.is_found()) {
      return SearchEnd::kGoalReached;
    }
    return least_pruned_ < NodeTable::kUnreached ? SearchEnd::kCostLimit : SearchEnd::kExhausted;
  }

  void LookAround(Cell cell, Cost g) {
    DirectView view(walk_, map_.settings().connectivity, query_.corner_rule, cell);
    goals_.LookAround(
        cell, g, [&](const GoalSet::Box& box) { return view.MaySee(box.first, box.last); },
        [&](Cell goal) { return view.Sees(goal); });
  }

  const GridMap& map_;
  const WalkGrid& walk_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  GoalSet& goals_;
  SearchStatistics statistics_{.algorithm = Algorithm::kJumpPoint};
  // Node being expanded; the start is its own parent.
  NodeIndex current_ = 0;
  // Lowest f of the cells that were left because they improve no path.
  Cost least_pruned_ = NodeTable::kUnreached;
  bool is_full_ = false;
};

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

SearchReport RunGoalSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                           const Budget& budget, Scratch& scratch) {
  const bool has_jumps = map.HasUniformCost() && map.settings().connectivity != Connectivity::kSix &&
                         query.algorithm != Algorithm::kAStar && query.algorithm != Algorithm::kDijkstra;
  return has_jumps ? GoalJumps(map, walk, query, budget, scratch).Run()
                   : RunGoalAStar(map, walk, query, budget, scratch);
}

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
  set.Limit(budget.max_cost);
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
    if (report.end == SearchEnd::kCostLimit) {
      scratch.ClearPath();
      return NearestGoalResult{.path = TooCostly(CostToDouble(report.least_cost), statistics)};
    }
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
  if (set.goals().size() > 1) {
    left.max_cost = Budget().max_cost;
  }
  WAYSTAR_ASSIGN_OR_RETURN(PathResult path, FindPath(map, to_nearest, left, scratch));
  path.statistics.expanded += statistics.expanded;
  path.statistics.generated += statistics.generated;
  return NearestGoalResult{.path = path, .goal_index = nearest};
}

}  // namespace waystar::core
