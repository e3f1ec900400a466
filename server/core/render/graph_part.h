// What of a waypoint graph lies in a part of the world.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph/box_tree.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/grid/cell.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How much may lie there.
inline constexpr std::size_t kMaxDrawnNodes = 1 << 16;
inline constexpr std::size_t kMaxDrawnArcs = 1 << 17;

struct DrawnArc {
  NodeNumber from = 0;
  NodeNumber to = 0;
  bool is_auto = false;
  bool is_open = false;
  // Or the other way is not like it.
  bool is_one_way = false;
};

struct GraphPart {
  std::vector<NodeNumber> nodes;
  // Those that may touch the part; an edge both ways once.
  std::vector<DrawnArc> arcs;
};

// Costs time in proportion to the whole graph. Errors: RESOURCE_EXHAUSTED / REGION_TOO_LARGE with field
// "region"; those of InterruptionError.
absl::StatusOr<GraphPart> GatherGraph(const WaypointGraph& graph, const Box& area, const Budget& budget);

// Around all nodes and obstacles, in whole units of the world, with some room.
Rectangle AllOf(const WaypointGraph& graph);

}  // namespace waystar::core
