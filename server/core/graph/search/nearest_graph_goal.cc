#include "server/core/graph/search/nearest_graph_goal.h"

#include <limits>
#include <utility>
#include <vector>

#include "server/core/graph/search/node_set.h"

namespace waystar::core {
namespace {

// Goals that the flood has not reached yet. Of several goals at one node only the best is kept, since all are
// reached at once.
class OpenGoals {
 public:
  OpenGoals(const WaypointGraph& graph, absl::Span<const GraphGoal> goals)
      : goals_(goals), nodes_(graph.number_limit()), is_open_(goals.size(), false) {
    std::vector<NodeNumber> nodes;
    nodes.reserve(goals.size());
    for (const GraphGoal& goal : goals) {
      nodes.push_back(goal.seat.node);
    }
    nodes_.Assign(std::move(nodes));
    count_ = nodes_.size();
    best_at_.assign(count_, goals.size());
    for (std::size_t i = 0; i < goals.size(); ++i) {
      std::size_t& best = best_at_[nodes_.IndexOf(goals[i].seat.node)];
      if (best == goals.size() || goals[i].seat.cost < goals[best].seat.cost) {
        best = i;
      }
    }
    for (const std::size_t best : best_at_) {
      is_open_[best] = true;
    }
  }

  bool HasNode(NodeNumber node) const { return nodes_.Contains(node); }
  bool empty() const { return count_ == 0; }

  // Returns the best goal at the node and closes it.
  // REQUIRES: HasNode(node).
  const GraphGoal& Take(NodeNumber node) {
    const std::size_t best = best_at_[nodes_.IndexOf(node)];
    is_open_[best] = false;
    --count_;
    return goals_[best];
  }

  // Returns the minimum index of an open goal.
  // REQUIRES: !empty().
  std::size_t FirstIndex() {
    while (!is_open_[first_]) {
      ++first_;
    }
    return goals_[first_].index;
  }

 private:
  const absl::Span<const GraphGoal> goals_;
  NodeSet nodes_;
  // Index of the best goal, by index of the node in the set.
  std::vector<std::size_t> best_at_;
  std::vector<bool> is_open_;
  std::size_t count_ = 0;
  std::size_t first_ = 0;
};

}  // namespace

GraphFloodReport FindNearestGraphGoal(const WaypointGraph& graph, const GraphSeat& start,
                                      absl::Span<const GraphGoal> goals, TagSet required_tags,
                                      const Budget& budget, GraphScratch& scratch,
                                      std::optional<NearestGraphGoal>& nearest) {
  OpenGoals open(graph, goals);
  const GraphSeed seed{.node = start.node, .cost = start.cost};
  const GraphFloodTask task{.seeds = {&seed, 1},
                            .required_tags = required_tags,
                            .max_cost = nearest ? nearest->cost : std::numeric_limits<Cost>::max()};
  return FloodGraph(graph, task, budget, scratch, [&](NodeNumber node, Cost cost) {
    if (open.HasNode(node)) {
      const GraphGoal& goal = open.Take(node);
      const NearestGraphGoal reached{.index = goal.index, .cost = cost + goal.seat.cost};
      if (!nearest || reached.IsBefore(*nearest)) {
        nearest = reached;
      }
    }
    // Nodes visited from here on cost at least as much.
    return !open.empty() && !(nearest && nearest->IsBefore({.index = open.FirstIndex(), .cost = cost}));
  });
}

}  // namespace waystar::core
