#include <bit>
#include <cstdint>
#include <optional>

#include "server/core/engine/jumps.h"
#include "server/core/grid/grid_moves.h"
#include "server/core/nearest/goal_search.h"
#include "server/core/search/bucket_queue.h"
#include "server/core/search/direct_way.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class GoalJumps {
 public:
  GoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
            Scratch& scratch, GoalSet& goals, SearchStatistics& statistics)
      : map_(map),
        walk_(walk),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        goals_(goals),
        statistics_(statistics) {}

  template <typename Jumper>
  SearchEnd Run(Jumper jumps) {
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
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      ++statistics_.expanded;
      node.done |= directions;
      node.todo = 0;
      const Cell cell = Unpack(node.cell);
      const Cost g = node.g;
      LookAround(cell, g);
      jumps(cell, g, directions);
    }
    if (is_full_) {
      return SearchEnd::kScratchLimit;
    }
    return goals_.is_found() ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
  }

  // These are called by jumps; see EightConnectedJumps.
  static constexpr Cell goal() { return {-2, -2}; }
  static void ReachGoal(Cost /*g*/) {}
  void Reach(Cell cell, Cost g, DirectionSet directions) {
    const Cost f = g + goals_.Heuristic(cell);
    if (f > goals_.best_cost()) {
      return;
    }
    const NodeIndex index = scratch_.FindOrAddNode(cell);
    if (index == kNoNode) {
      is_full_ = true;
      return;
    }
    JumpNode& node = scratch_.nodes()[index];
    if (g > node.g) {
      return;
    }
    const bool is_waiting = node.todo != 0;
    if (g == node.g) {
      const auto more = static_cast<DirectionSet>(directions & ~(node.todo | node.done));
      node.todo |= more;
      if (more == 0 || is_waiting) {
        return;
      }
    } else {
      node.g = g;
      node.todo = directions;
      node.done = 0;
    }
    ++statistics_.generated;
    is_full_ = is_full_ || (node.todo != 0 && !scratch_.PushJump(f, index));
    if (directions == 0) {
      LookAround(cell, g);
    }
  }

 private:
  void LookAround(Cell cell, Cost g) {
    for (const GoalSet::Goal& goal : goals_.goals()) {
      const Cost cost = g + goals_.Distance(cell, goal);
      if (goals_.Improves(cost, goal) &&
          IsDirect(walk_, map_.settings().connectivity, query_.corner_rule, cell, Unpack(goal.cell))) {
        goals_.Improve(cost, goal);
      }
    }
  }

  const GridMap& map_;
  const WalkGrid& walk_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  GoalSet& goals_;
  SearchStatistics& statistics_;
  bool is_full_ = false;
};

}  // namespace

SearchEnd RunGoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                       Scratch& scratch, GoalSet& goals, SearchStatistics& statistics) {
  GoalJumps search(map, walk, query, budget, scratch, goals, statistics);
  return RunWithJumps(map, walk, query.corner_rule, search, [&](auto jumps) { return search.Run(jumps); });
}

}  // namespace waystar::core
