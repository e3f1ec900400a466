#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/octile.h"
#include "server/core/search/interruption.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

// Search of RunLazyThetaStar. JumpNode::todo is 1 while a node is on the open list; JumpNode::done is 1 once
// node and parent are known to be mutually visible, from when on g only decreases.
template <typename Recorder>
class LazyThetaSearch {
 public:
  LazyThetaSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                  Scratch& scratch, Recorder& recorder)
      : walk_(walk),
        rule_(LineRule(map.settings().connectivity, query.corner_rule)),
        straight_(map.min_straight()),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        nodes_(scratch.nodes()),
        recorder_(recorder),
        moves_(GridMoves::For(map.settings().connectivity, query.corner_rule)),
        nearest_(query.start, query.goal) {}

  SearchReport Run() {
    const SearchEnd end = Search();
    statistics_.algorithm = Algorithm::kLazyThetaStar;
    const bool is_found = end == SearchEnd::kGoalReached;
    return {.end = end,
            .nearest = is_found ? query_.goal : nearest_.cell(),
            .cost = is_found ? nodes_[nodes_.Find(query_.goal)].g : nearest_.cost(),
            .statistics = statistics_};
  }

 private:
  static constexpr Cost kUnreached = NodeTable::kUnreached;
  // Number of ancestors of a neighbour that are tried as parents; more improve paths little.
  static constexpr int kTurnsBack = 2;

  SearchEnd Search() {
    scratch_.StartJumps(ToGoal(query_.start), BucketShift());
    const NodeIndex start = scratch_.FindOrAddNode(query_.start);
    if (start == kNoNode) {
      return SearchEnd::kScratchLimit;
    }
    nodes_[start].done = 1;
    if (!Improve(start, start, 0)) {
      return SearchEnd::kScratchLimit;
    }

    BucketQueue& open = scratch_.buckets();
    while (!open.empty()) {
      const BucketQueue::Entry entry = open.Pop();
      if (open.Floor() >= goal_cost_) {
        return SearchEnd::kGoalReached;
      }
      if (nodes_[entry.node].todo == 0) {
        continue;
      }
      if (nodes_[entry.node].done == 0 && !SeesParent(entry.node)) {
        if (!FindParent(entry.node)) {
          return SearchEnd::kScratchLimit;
        }
        continue;
      }
      nodes_[entry.node].done = 1;
      const Cell cell = Unpack(nodes_[entry.node].cell);
      if (cell == query_.goal) {
        nodes_[entry.node].todo = 0;
        goal_cost_ = nodes_[entry.node].g;
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      nodes_[entry.node].todo = 0;
      ++statistics_.expanded;
      recorder_.Expanded(cell, nodes_[entry.node].g, entry.f);
      nearest_.Consider(cell, nodes_[entry.node].g);
      if (!Expand(entry.node, cell)) {
        return SearchEnd::kScratchLimit;
      }
    }
    return goal_cost_ == kUnreached ? SearchEnd::kExhausted : SearchEnd::kGoalReached;
  }

  // Returns the binary logarithm of the bucket width: at most a sixteenth of a straight step, so that nodes
  // popped early within a bucket are rarely expanded twice.
  int BucketShift() const {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(straight_))) - 5;
  }

  Cost ToGoal(Cell cell) const { return EuclideanCost(cell, query_.goal, straight_); }

  // Returns the cost of `cell` if it is reached in a straight line from a node.
  Cost CostBy(NodeIndex from, Cell cell) const {
    return nodes_[from].g + EuclideanCost(Unpack(nodes_[from].cell), cell, straight_);
  }

  bool SeesParent(NodeIndex index) const {
    const JumpNode& node = nodes_[index];
    return HasLineOfSight(walk_, rule_, Unpack(nodes_[node.parent].cell), Unpack(node.cell));
  }

  // Reinserts a node that does not see its parent with the best parent among its reached neighbours and their
  // ancestors. At least one neighbour qualifies: the one that inserted the node. Returns false if the scratch
  // is full.
  bool FindParent(NodeIndex index) {
    const Cell cell = Unpack(nodes_[index].cell);
    NodeIndex best = kNoNode;
    Cost best_g = kUnreached;
    std::array<NodeIndex, kDirectionCount> reached{};
    std::size_t count = 0;
    for (unsigned moves = moves_.From(walk_, cell); moves != 0; moves &= moves - 1) {
      const NodeIndex beside = nodes_.Find(Step(cell, static_cast<Direction>(std::countr_zero(moves))));
      if (beside != kNoNode && nodes_[beside].done != 0) {
        reached[count++] = beside;
        const Cost g = CostBy(beside, cell);
        if (g < best_g) {
          best = beside;
          best_g = g;
        }
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      NodeIndex turn = reached[i];
      for (int back = 0; back < kTurnsBack; ++back) {
        turn = nodes_[turn].parent;
        const Cost g = CostBy(turn, cell);
        if (g < best_g && HasLineOfSight(walk_, rule_, Unpack(nodes_[turn].cell), cell)) {
          best = turn;
          best_g = g;
        }
      }
    }
    nodes_[index].done = 1;
    return Improve(index, best, best_g);
  }

  // Reaches the neighbours of a cell. Returns false if the scratch is full.
  bool Expand(NodeIndex index, Cell cell) {
    const NodeIndex parent = nodes_[index].parent;
    for (unsigned moves = moves_.From(walk_, cell); moves != 0; moves &= moves - 1) {
      const Cell next = Step(cell, static_cast<Direction>(std::countr_zero(moves)));
      const NodeIndex reached = scratch_.FindOrAddNode(next);
      if (reached == kNoNode) {
        return false;
      }
      NodeIndex from = parent;
      Cost g = CostBy(parent, next);
      // Checked at once: a verified node may be the parent of others, so that its new parent must see it.
      if (nodes_[reached].done != 0 && g < nodes_[reached].g &&
          !HasLineOfSight(walk_, rule_, Unpack(nodes_[parent].cell), next)) {
        from = index;
        g = CostBy(index, next);
      }
      if (g < nodes_[reached].g && !Improve(reached, from, g)) {
        return false;
      }
    }
    return true;
  }

  // Sets a node's parent and cost, and inserts it. Returns false if the scratch is full.
  bool Improve(NodeIndex index, NodeIndex parent, Cost g) {
    JumpNode& node = nodes_[index];
    node.g = g;
    node.parent = parent;
    node.todo = 1;
    ++statistics_.generated;
    const Cell cell = Unpack(node.cell);
    // The straight line from the parent may be shorter than the path through the cell just expanded, and f
    // smaller than Floor().
    const Cost f = std::max(g + ToGoal(cell), scratch_.buckets().Floor());
    recorder_.Generated(cell, Unpack(nodes_[parent].cell), g, f);
    return scratch_.PushJump(f, index);
  }

  const WalkGrid& walk_;
  const SightRule rule_;
  const Cost straight_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  NodeTable& nodes_;
  Recorder& recorder_;
  const GridMoves& moves_;
  NearestCell nearest_;
  SearchStatistics statistics_;
  // Cost of the best path to the goal so far.
  Cost goal_cost_ = kUnreached;
};

}  // namespace

template <typename Recorder>
SearchReport RunLazyThetaStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                              const Budget& budget, Scratch& scratch, Recorder& recorder) {
  return LazyThetaSearch<Recorder>(map, walk, query, budget, scratch, recorder).Run();
}

template SearchReport RunLazyThetaStar(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&,
                                       Scratch&, NoRecorder&);
template SearchReport RunLazyThetaStar(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&,
                                       Scratch&, EventRecorder&);

}  // namespace waystar::core
