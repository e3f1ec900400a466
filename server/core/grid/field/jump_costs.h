// Minimum costs from one node of a jump graph to all others.
//
// Dijkstra, "A Note on Two Problems in Connexion with Graphs" (1959), over jump points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/search/bucket_queue.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Single-source costs over a JumpGraph. Reuses memory. Not thread-safe.
class JumpCosts {
 public:
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

  // Computes the costs from `root`. Checks the budget every Budget::kPollInterval expansions, which it adds
  // to `expanded`. Returns kExhausted if all costs are known.
  // REQUIRES: no jump costs less than `min_straight`; `root` was a root of the graph.
  SearchEnd Run(const JumpGraph& graph, NodeIndex root, Cost min_straight, const Budget& budget,
                std::uint64_t& expanded);

  // Returns kUnreached if there is no path.
  Cost CostTo(NodeIndex node) const { return states_[node].cost; }

  std::size_t memory_bytes() const { return states_.capacity() * sizeof(State) + open_.memory_bytes(); }

 private:
  struct State {
    Cost cost = kUnreached;
    // Directions in which to continue. All paths of equal cost are known before the node is expanded.
    DirectionSet onward = 0;
  };

  std::vector<State> states_;
  BucketQueue open_;
};

}  // namespace waystar::core
