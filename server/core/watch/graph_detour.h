// Lower bounds of what it costs on a waypoint graph to go by way of a place.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "server/core/graph/cheap_arcs.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph/world_point.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// What a heuristic may count on (GraphHeuristic) on any way over the graph: a unit of length costs at least
// so much, but for the few cheap arcs, which are taken as they are.
class GraphGround {
 public:
  explicit GraphGround(const WaypointGraph& graph);

 private:
  friend class GraphDetour;

  using OfArcs = std::array<double, ArcCostBound::kMostCheap>;

  double per_length_ = 0.0;
  std::vector<CheapArc> arcs_;
  // The least cost from the beginning of one cheap arc to that of another.
  std::array<OfArcs, ArcCostBound::kMostCheap> between_{};
};

// The bounds for ways over nodes in one box.
class GraphDetour {
 public:
  // `ground` must outlive this.
  GraphDetour(const GraphGround& ground, const Box& box);

  // Returns a lower bound, in units of Cost, of the cost from one node by way of the box to another.
  double LeastCost(const WorldPoint& from, const WorldPoint& to) const;

 private:
  const GraphGround& ground_;
  const Box box_;
  // The least costs from the beginning of each cheap arc to the box, and from the box to the end of each,
  // by way of that arc.
  GraphGround::OfArcs to_box_{};
  GraphGround::OfArcs from_box_{};
};

}  // namespace waystar::core
