#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/engines/jumps.h"
#include "server/core/grid/search/direct_way.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/octile.h"
#include "server/core/search/interruption.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

// Main loop of jump point search. Jumps follow the directions of a node and call Reach and ReachGoal for what
// they find.
//
// With a tolerance the heuristic is weighted. Nodes are expanded again when a cheaper path to them is found,
// so that until the search ends, a node of a cheapest path waits at its least cost. Its f, and therefore the
// cost of the path found, is at most the weight times that of the path.
template <typename Recorder, bool kIsWeighted>
class JumpSearch {
 public:
  JumpSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
             Scratch& scratch, Recorder& recorder)
      : map_(map),
        walk_(walk),
        connectivity_(map.settings().connectivity),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        heuristic_(map, query.goal, 1.0 + query.tolerance),
        // A bucket is a quarter to half of a step wide. On open random maps (random512-10) that is 10 %
        // faster than twice that width and 26 % faster than four times; elsewhere all widths, down to a
        // sixteenth, are within 3 %.
        width_shift_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(map.min_straight()))) - 2),
        goal_cost_(budget.FirstForbiddenCost()) {}

  // Expands nodes in bucket order until the goal's cost is final.
  SearchReport Run() {
    const DirectionSet first = GridMoves::For(connectivity_, query_.corner_rule).From(walk_, query_.start);
    const SearchEnd end = RunWithJumps(map_, walk_, query_.corner_rule, *this,
                                       [&](auto jumps) { return Search(first, jumps); });
    statistics_.algorithm = Algorithm::kJumpPoint;
    if (end == SearchEnd::kGoalReached) {
      return {.end = end,
              .nearest = query_.goal,
              .cost = scratch_.nodes()[scratch_.nodes().Find(query_.goal)].g,
              .statistics = statistics_};
    }
    const NearestCell nearest = NearestExpanded(scratch_.nodes(), query_);
    return {.end = end,
            .nearest = nearest.cell(),
            .cost = nearest.cost(),
            .least_cost = least_pruned_,
            .statistics = statistics_};
  }

  Cell goal() const { return query_.goal; }

  // Reports that the node being expanded leads to `cell` at cost g, to be continued in `directions`.
  void Reach(Cell cell, Cost g, DirectionSet directions) {
    const Cost f = g + heuristic_(cell);
    if (f >= goal_cost_) {
      least_pruned_ = std::min(least_pruned_, f);
      return;
    }
    const NodeIndex index = scratch_.FindOrAddNode(cell);
    if (index == kNoNode) {
      is_full_ = true;
      return;
    }
    if (!scratch_.nodes()[index].Reach(g, current_, directions)) {
      return;
    }
    if (cell == query_.goal) {
      goal_cost_ = g;
      is_found_ = true;
      ++statistics_.generated;
      recorder_.Generated(cell, Unpack(scratch_.nodes()[current_].cell), g, f);
      return;
    }
    Push(index, f);
  }

  void ReachGoal(Cost g) { Reach(query_.goal, g, 0); }

 private:
  template <typename Expander>
  SearchEnd Search(DirectionSet first, Expander expand) {
    const Cost lowest = heuristic_(query_.start);
    if constexpr (!kIsWeighted) {
      scratch_.StartJumps(lowest, width_shift_);
    } else if (!scratch_.StartJumpsOverCells(map_, lowest, width_shift_)) {
      return SearchEnd::kScratchLimit;
    }
    current_ = scratch_.FindOrAddNode(query_.start);
    if (current_ == kNoNode) {
      return SearchEnd::kScratchLimit;
    }
    JumpNode& start = scratch_.nodes()[current_];
    start.g = 0;
    start.parent = current_;
    start.todo = first;
    if (query_.start == query_.goal) {
      return SearchEnd::kGoalReached;
    }
    Push(current_, lowest);

    while (!is_full_ && !Open::IsEmpty(scratch_)) {
      const BucketQueue::Entry entry = Open::Pop(scratch_);
      if (Open::Floor(scratch_, entry) >= goal_cost_) {
        return SearchEnd::kGoalReached;
      }
      JumpNode& node = scratch_.nodes()[entry.node];
      const DirectionSet directions = node.todo;
      if (directions == 0) {
        continue;
      }
      if (const std::optional<SearchEnd> end = statistics_.expanded == 0
                                                   ? BudgetEndAtFirst(budget_)
                                                   : BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      ++statistics_.expanded;
      node.done |= directions;
      node.todo = 0;
      const Cell cell = Unpack(node.cell);
      const Cost g = node.g;
      recorder_.Expanded(cell, g, entry.f);
      current_ = entry.node;
      if (IsInSight(cell)) {
        // No path from here is cheaper.
        ReachGoal(g + (kIsWeighted ? OctileHeuristic(map_, query_.goal)(cell) : heuristic_(cell)));
        continue;
      }
      expand(cell, g, directions);
    }
    if (is_full_) {
      return SearchEnd::kScratchLimit;
    }
    if (is_found_) {
      return SearchEnd::kGoalReached;
    }
    return least_pruned_ < kUnreached ? SearchEnd::kCostLimit : SearchEnd::kExhausted;
  }

  void Push(NodeIndex index, Cost f) {
    ++statistics_.generated;
    const JumpNode& node = scratch_.nodes()[index];
    recorder_.Generated(Unpack(node.cell), Unpack(scratch_.nodes()[node.parent].cell), node.g, f);
    is_full_ = is_full_ || !Open::Push(scratch_, f, node.g, index);
  }

  using Open = JumpQueue<kIsWeighted>;

  static constexpr Cost kUnreached = NodeTable::kUnreached;
  // The first kLooks expansions check whether the goal is in sight, which ends short searches early. The very
  // first is exempt, because the caller checked the start. Checks at all expansions would slow long searches
  // by up to a tenth.
  static constexpr std::uint64_t kLooks = 8;

  bool IsInSight(Cell cell) const {
    return 1 < statistics_.expanded && statistics_.expanded <= kLooks &&
           IsDirectAndNear(walk_, connectivity_, query_.corner_rule, cell, query_.goal);
  }

  const GridMap& map_;
  const WalkGrid& walk_;
  const Connectivity connectivity_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  Recorder& recorder_;
  const OctileHeuristic heuristic_;
  const int width_shift_;
  SearchStatistics statistics_;
  // Node being expanded.
  NodeIndex current_ = kNoNode;
  // Cost of the cheapest path to the goal so far, or else the first forbidden one.
  Cost goal_cost_;
  bool is_found_ = false;
  // Lowest f of the cells that were left because of it.
  Cost least_pruned_ = kUnreached;
  bool is_full_ = false;
};

}  // namespace

template <typename Recorder>
SearchReport RunJps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                    Scratch& scratch, Recorder& recorder) {
  return query.tolerance > 0.0
             ? JumpSearch<Recorder, true>(map, walk, query, budget, scratch, recorder).Run()
             : JumpSearch<Recorder, false>(map, walk, query, budget, scratch, recorder).Run();
}

template SearchReport RunJps(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                             NoRecorder&);
template SearchReport RunJps(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                             EventRecorder&);

}  // namespace waystar::core
