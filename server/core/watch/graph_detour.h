// Lower bounds on the cost of a path through a given place of a waypoint graph.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Guaranteed least costs on the graph (GraphHeuristic): a least cost per unit of length, except for the few
// cheap arcs, which are listed with their own costs.
class GraphGround {
 public:
  explicit GraphGround(const WaypointGraph& graph);

 private:
  friend class GraphDetour;

  using OfArcs = std::array<double, ArcCostBound::kMostCheap>;

  double per_length_ = 0.0;
  std::vector<CheapArc> arcs_;
  // Least cost from the start of one cheap arc to the start of another.
  std::array<OfArcs, ArcCostBound::kMostCheap> between_{};
};

// Bounds for paths through nodes in one box.
class GraphDetour {
 public:
  // `ground` must outlive this.
  GraphDetour(const GraphGround& ground, const Box& box);

  // Returns a lower bound, in units of Cost, on the cost between two nodes through the box.
  double LeastCost(const WorldPoint& from, const WorldPoint& to) const;

 private:
  const GraphGround& ground_;
  const Box box_;
  // Least cost from the start of each cheap arc to the box, and from the box to the end of each, through that
  // arc.
  GraphGround::OfArcs to_box_{};
  GraphGround::OfArcs from_box_{};
};

}  // namespace waystar::core
