// Places at which to draw the nodes of a waypoint graph whose positions do not say where.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph/world_point.h"
#include "server/core/shape/box.h"

namespace waystar::core {

class GraphLayout {
 public:
  // Leaves all nodes where they are.
  GraphLayout() = default;

  // Lays a graph out if it has several nodes and all of them lie at one point, seen from above. Up to some
  // hundred nodes are drawn towards those that edges join them to, and pushed away from all others
  // (Fruchterman, Reingold: "Graph Drawing by Force-directed Placement", 1991); more stand in rows. Equal
  // graphs have equal layouts, on every machine. It takes O(nodes^2) for the former. Returns the error of
  // `stop`.
  static absl::StatusOr<GraphLayout> Of(const WaypointGraph& graph, const StopCheck& stop);

  // Returns whether nodes are drawn elsewhere than where they lie.
  bool is_chosen() const { return !places_.empty(); }
  // Returns where a node is drawn.
  WorldPoint PlaceOf(const WaypointGraph& graph, NodeNumber node) const {
    return is_chosen() ? places_[node] : graph.PositionOf(node);
  }
  // Returns an area around all places, with a margin. REQUIRES: is_chosen().
  const Box& area() const { return area_; }

 private:
  // By the numbers of nodes.
  std::vector<WorldPoint> places_;
  Box area_;
};

}  // namespace waystar::core
