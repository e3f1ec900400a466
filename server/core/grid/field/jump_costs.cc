#include "server/core/grid/field/jump_costs.h"

#include <bit>
#include <optional>

#include "server/core/search/interruption.h"

namespace waystar::core {

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
