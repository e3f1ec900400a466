// Layout of waypoint graphs whose node positions coincide.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

class GraphLayout {
 public:
  // Draws every node at its own position.
  GraphLayout() = default;

  // Lays out a graph if it has several nodes that all lie at one point in plan. Up to some hundred nodes are
  // placed by forces: edges attract, all other pairs repel (Fruchterman, Reingold: "Graph Drawing by
  // Force-directed Placement", 1991), in O(nodes^2). More nodes are placed in rows. Equal graphs get equal
  // layouts on every machine. Returns the error of `stop`.
  static absl::StatusOr<GraphLayout> Of(const WaypointGraph& graph, const StopCheck& stop);

  // Returns true if nodes are drawn at other places than their positions.
  bool is_chosen() const { return !places_.empty(); }
  // Returns the place at which a node is drawn.
  WorldPoint PlaceOf(const WaypointGraph& graph, NodeNumber node) const {
    return is_chosen() ? places_[node] : graph.PositionOf(node);
  }
  // Returns the bounds of all places, with a margin.
  // REQUIRES: is_chosen().
  const Box& area() const { return area_; }

 private:
  // Indexed by node number.
  std::vector<WorldPoint> places_;
  Box area_;
};

}  // namespace waystar::core
