#include <bit>
#include <cstdint>
#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/engines/direct_view.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/engines/jumps.h"
#include "server/core/grid/search/bucket_queue.h"
#include "server/core/grid/search/nearest_cell.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class GoalJumps {
 public:
  GoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
            Scratch& scratch)
      : map_(map), walk_(walk), query_(query), budget_(budget), scratch_(scratch), goals_(scratch.goals()) {}

  SearchReport Run() {
    const SearchEnd end =
        RunWithJumps(map_, walk_, query_.corner_rule, *this, [&](auto jumps) { return Search(jumps); });
    NearestCell nearest(query_.start, query_.goal);
    for (NodeIndex i = 0; end != SearchEnd::kGoalReached && i < scratch_.nodes().size(); ++i) {
      const JumpNode& node = scratch_.nodes()[i];
      if (node.done != 0) {
        nearest.Consider(Unpack(node.cell), node.g);
      }
    }
    return {.end = end, .nearest = nearest.cell(), .cost = nearest.cost(), .statistics = statistics_};
  }

  // Called by jumps; see EightConnectedJumps.
  static constexpr Cell goal() { return {-2, -2}; }
  static void ReachGoal(Cost /*g*/) {}
  void Reach(Cell cell, Cost g, DirectionSet directions) {
    const Cost f = g + goals_.Heuristic(cell);
    if (!goals_.MayImprove(cell, g, f)) {
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
      node.parent = current_;
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
    return goals_.is_found() ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
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
  bool is_full_ = false;
};

}  // namespace

SearchReport RunGoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch) {
  return GoalJumps(map, walk, query, budget, scratch).Run();
}

}  // namespace waystar::core
