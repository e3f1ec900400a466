// The part of a waypoint graph in an area of the world, and the layout of its nodes.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/search/query.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Limits on the nodes and arcs in the area.
inline constexpr std::size_t kMaxDrawnNodes = 1 << 16;
inline constexpr std::size_t kMaxDrawnArcs = 1 << 17;

struct DrawnArc {
  NodeNumber from = 0;
  NodeNumber to = 0;
  bool is_auto = false;
  bool is_open = false;
  // True unless an equal reverse arc exists.
  bool is_one_way = false;
};

struct GraphPart {
  std::vector<NodeNumber> nodes;
  // Arcs that may touch the area. A two-way edge occurs once.
  std::vector<DrawnArc> arcs;
};

// Collects the part in time linear in the whole graph. Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE with
// field "region", and the errors of InterruptionError.
absl::StatusOr<GraphPart> GatherGraph(const WaypointGraph& graph, const Box& area, const Budget& budget);

// Returns the bounds of all nodes and obstacles, with a margin; see WithMargin.
Box AllOf(const WaypointGraph& graph);

// Places of nodes in a picture.
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
