#include "server/core/graph/search/graph_astar.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "server/core/graph/search/graph_loop.h"
#include "server/geometry/world_point.h"

namespace waystar::core {
namespace {

// Covers the rounding errors of sums of costs.
constexpr double kMargin = 1.0 - 1e-12;

// Cost of the cheapest path to the goal through free space, in which a unit of length costs as much as on the
// graph's cheapest arc, except for the few much cheaper arcs (ArcCostBound), which are used individually. It
// is exact for that space and therefore consistent, apart from the rounding of distances.
class GraphHeuristic {
 public:
  // Makes the zero heuristic, for Dijkstra's algorithm.
  GraphHeuristic() = default;
  GraphHeuristic(const WaypointGraph& graph, const WorldPoint& goal);

  Cost Estimate(const WorldPoint& position) const {
    if (per_length_ == 0.0) {
      return 0;
    }
    double least = Distance(position, goal_) * per_length_;
    for (std::size_t i = 0; i < count_; ++i) {
      const Shortcut& shortcut = shortcuts_[i];
      if (shortcut.cost_to_goal < least) {
        least = std::min(least, Distance(position, shortcut.from) * per_length_ + shortcut.cost_to_goal);
      }
    }
    return static_cast<Cost>(std::min(least, kMaxEstimate));
  }

 private:
  // Keeps estimated totals below 2^63. The minimum of this constant and a consistent heuristic is consistent.
  static constexpr double kMaxEstimate = 8e17;

  // A cheap arc that shortens the path to the goal.
  struct Shortcut {
    WorldPoint from;
    double cost_to_goal = 0.0;
  };

  double per_length_ = 0.0;
  WorldPoint goal_;
  std::array<Shortcut, ArcCostBound::kMostCheap> shortcuts_;
  std::size_t count_ = 0;
};

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

template <typename Recorder>
class GraphAStar : private GraphLoop<GraphAStar<Recorder>> {
  using Loop = GraphLoop<GraphAStar<Recorder>>;
  friend Loop;

 public:
  GraphAStar(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
             GraphScratch& scratch, Recorder& recorder)
      : Loop(graph, task.required_tags, GraphSense::kFromSeeds, budget, scratch),
        task_(task),
        recorder_(recorder),
        heuristic_(task.is_guided ? GraphHeuristic(graph, task.goal_position) : GraphHeuristic()) {}

  GraphSearchReport Search() {
    const GraphSeed seed{.node = task_.start};
    report_.end = this->Run({&seed, 1});
    report_.statistics = this->statistics_;
    report_.statistics.algorithm = task_.is_guided ? Algorithm::kAStar : Algorithm::kDijkstra;
    return report_;
  }

 private:
  Cost Estimate(const NodeHead& head) const { return heuristic_.Estimate(head.position); }
  static constexpr bool MayReach(Cost /*g*/) { return true; }
  static constexpr bool MayEnter(const NodeHead& /*head*/) { return true; }

  bool EndsAt(NodeNumber node, Cost g) {
    if (node != task_.goal) {
      return false;
    }
    report_.last = node;
    report_.cost = g;
    return true;
  }

  void Generated(NodeNumber node, NodeNumber parent, Cost g, Cost f) {
    recorder_.Generated(node, parent, g, f);
  }

  void Expanded(NodeNumber node, Cost g, Cost f) {
    recorder_.Expanded(node, g, f);
    if (task_.wants_nearest) {
      NoteNearest(node, g);
    }
  }

  void NoteNearest(NodeNumber node, Cost g) {
    const double distance = SquaredDistance(this->graph_.PositionOf(node), task_.goal_position);
    const bool is_first = this->statistics_.expanded == 1;
    if (is_first || distance < nearest_distance_ ||
        (distance == nearest_distance_ && (g < report_.cost || (g == report_.cost && node < report_.last)))) {
      nearest_distance_ = distance;
      report_.last = node;
      report_.cost = g;
    }
  }

  const GraphSearchTask& task_;
  Recorder& recorder_;
  const GraphHeuristic heuristic_;
  GraphSearchReport report_;
  double nearest_distance_ = 0.0;
};

}  // namespace

GraphSearchReport SearchGraph(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
                              GraphScratch& scratch, NodeRecorder* recorder) {
  if (recorder != nullptr) {
    return GraphAStar(graph, task, budget, scratch, *recorder).Search();
  }
  NoNodeRecorder none;
  return GraphAStar(graph, task, budget, scratch, none).Search();
}

}  // namespace waystar::core
