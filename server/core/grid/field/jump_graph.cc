#include "server/core/grid/field/jump_graph.h"

#include <bit>
#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/engines/jumps.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

NodeIndex JumpGraph::Add(Cell cell, DirectionSet directions) {
  if (nodes_.IsFull()) {
    nodes_.Grow();
  }
  const NodeIndex index = nodes_.FindOrAdd(cell);
  if (index == ranges_.size()) {
    ranges_.emplace_back();
  }
  JumpNode& node = nodes_[index];
  const auto more = static_cast<DirectionSet>(directions & ~(node.todo | node.done));
  if (more != 0 && node.todo == 0) {
    waiting_.push_back(index);
  }
  node.todo |= more;
  return index;
}

SearchEnd JumpGraph::Explore(const GridMap& map, const WalkGrid& walk, CornerRule rule,
                             absl::Span<const Cell> roots, std::size_t max_nodes, const Budget& budget) {
  nodes_.Clear();
  ranges_.clear();
  edges_.clear();
  waiting_.clear();
  const Connectivity connectivity = map.settings().connectivity;
  for (const Cell root : roots) {
    Add(root, GridMoves::For(connectivity, rule).From(walk, root));
  }
  return RunWithJumps(map, walk, rule, *this, [&](auto jumps) { return Follow(jumps, max_nodes, budget); });
}

template <typename Jumper>
SearchEnd JumpGraph::Follow(Jumper jumps, std::size_t max_nodes, const Budget& budget) {
  for (std::uint64_t explored = 0; !waiting_.empty(); ++explored) {
    if (nodes_.size() > max_nodes) {
      return SearchEnd::kScratchLimit;
    }
    if (explored % Budget::kPollInterval == 0) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return *end;
      }
    }
    const NodeIndex index = waiting_.back();
    waiting_.pop_back();
    const DirectionSet directions = nodes_[index].todo;
    nodes_[index].todo = 0;
    nodes_[index].done |= directions;
    const Cell cell = CellOf(index);
    for (unsigned left = directions; left != 0; left &= left - 1) {
      const auto begin = static_cast<std::uint32_t>(edges_.size());
      jumps(cell, 0, static_cast<DirectionSet>(left & -left));
      ranges_[index][static_cast<std::size_t>(std::countr_zero(left))] = {
          begin, static_cast<std::uint32_t>(edges_.size()) - begin};
    }
  }
  return SearchEnd::kExhausted;
}

SearchEnd JumpCosts::Run(const JumpGraph& graph, NodeIndex root, Cost min_straight, const Budget& budget,
                         std::uint64_t& expanded) {
  states_.assign(graph.node_count(), {});
  // A bucket no wider than the cheapest step holds only final costs (Dinitz, 1978).
  open_.Start(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(min_straight))) - 1);
  const auto push = [&](Cost cost, NodeIndex node) {
    if (open_.IsFull()) {
      open_.Grow();
    }
    open_.Push(cost, node);
  };
  states_[root] = {0, graph.DirectionsOf(root)};
  push(0, root);
  while (!open_.empty()) {
    const BucketQueue::Entry entry = open_.Pop();
    const State state = states_[entry.node];
    if (entry.f != state.cost) {
      continue;
    }
    if (expanded % Budget::kPollInterval == 0) {
      if (const std::optional<SearchEnd> end = Interruption(budget)) {
        return *end;
      }
    }
    ++expanded;
    for (unsigned left = state.onward; left != 0; left &= left - 1) {
      for (const JumpGraph::Edge& edge :
           graph.Jumps(entry.node, static_cast<unsigned>(std::countr_zero(left)))) {
        const Cost cost = state.cost + edge.cost;
        State& to = states_[edge.to];
        if (cost < to.cost) {
          to = {cost, edge.onward};
          push(cost, edge.to);
        } else if (cost == to.cost) {
          to.onward |= edge.onward;
        }
      }
    }
  }
  return SearchEnd::kExhausted;
}

}  // namespace waystar::core
