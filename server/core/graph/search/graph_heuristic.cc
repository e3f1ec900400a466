#include "server/core/graph/search/graph_heuristic.h"

#include <algorithm>

namespace waystar::core {
namespace {

// Covers the rounding errors of sums of costs.
constexpr double kMargin = 1.0 - 1e-12;

}  // namespace

GraphHeuristic::GraphHeuristic(const WaypointGraph& graph, const WorldPoint& goal)
    : per_length_(graph.least_cost_per_length()), goal_(goal) {
  const std::vector<CheapArc>& arcs = graph.cheap_arcs();
  std::array<double, ArcCostBound::kMostCheap> cost_to_goal{};
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    cost_to_goal[i] = static_cast<double>(arcs[i].cost) + per_length_ * Distance(arcs[i].to, goal);
  }
  // As many rounds as a path can have cheap arcs (Bellman, 1958).
  for (std::size_t round = 1; round < arcs.size(); ++round) {
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      for (std::size_t next = 0; next < arcs.size(); ++next) {
        cost_to_goal[i] = std::min(cost_to_goal[i], static_cast<double>(arcs[i].cost) +
                                                        per_length_ * Distance(arcs[i].to, arcs[next].from) +
                                                        cost_to_goal[next]);
      }
    }
  }
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    if (cost_to_goal[i] < per_length_ * Distance(arcs[i].from, goal)) {
      shortcuts_[count_++] = {.from = arcs[i].from, .cost_to_goal = cost_to_goal[i] * kMargin};
    }
  }
}

}  // namespace waystar::core
