// Heuristic of searches on waypoint graphs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

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

}  // namespace waystar::core
