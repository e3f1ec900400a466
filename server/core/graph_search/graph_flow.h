// Flow fields on waypoint graphs: the way from every node to the nearest goal, one answer for many agents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/box_tree.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph_search/graph_place.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphFlowQuery {
  // At least one. Disabled nodes are passed over.
  absl::Span<const GraphPlace> goals;
  // As in GraphQuery, also below.
  double snap_radius = 0.0;
  std::vector<std::string> required_tags;
  // Nodes from which the way costs more have no place in the flow; see ToMaxCost.
  std::optional<double> max_cost;
  // The area that paths may not leave, seen from above, edges included; everywhere without a value.
  std::optional<Box> region;
};

struct GraphFlowStep {
  NodeNumber node = 0;
  // The next node of the cheapest way to a goal, or kNoNodeNumber where the way ends: at a goal, or at the
  // node that stands in for a goal that is a position.
  NodeNumber next = kNoNodeNumber;
  // The cost of the way, where the line from the last node to a goal that is a position counts.
  double cost = 0.0;

  friend bool operator==(const GraphFlowStep&, const GraphFlowStep&) = default;
};

struct GraphFlow {
  // The steps from every node from which a way leads to a goal, in the order of the numbers of nodes.
  std::vector<GraphFlowStep> steps;
  std::uint64_t expanded = 0;
};

// Computes the flow. Following `next` from any node leads to a goal at the cost of that node. Of several next
// nodes that are equally cheap the same one is chosen on every machine. It takes the time of a flood
// (FloodGraph) of what is within the cost.
//
// Returns the errors of FindReachableNodes, with "goals[i]" for "start", but FAILED_PRECONDITION /
// GOAL_BLOCKED with "goals" only if all of them are disabled. REQUIRES: there is a goal; the snap radius is
// finite, and 0 or more.
absl::StatusOr<GraphFlow> ComputeGraphFlow(const WaypointGraph& graph, const GraphFlowQuery& query,
                                           const Budget& budget, GraphScratch& scratch);

}  // namespace waystar::core
