// The part of a waypoint graph in an area of the world.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/search/query.h"

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

}  // namespace waystar::core
