// The nodes of a waypoint graph within a cost of a start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph/box_tree.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph_search/graph_flood.h"
#include "server/core/graph_search/graph_place.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct ReachableNodesQuery {
  GraphPlace start;
  // As in GraphQuery, also below.
  double snap_radius = 0.0;
  std::vector<std::string> required_tags;
  // The limit of the cost; see ToMaxCost. Without it, the result is all that a path leads to.
  std::optional<double> max_cost;
  // The area that paths may not leave, seen from above, edges included; everywhere without a value.
  std::optional<Box> region;
  // kToSeeds asks for the nodes from which the start is within the cost.
  GraphSense sense = GraphSense::kFromSeeds;
};

struct ReachableNode {
  NodeNumber node = 0;
  // The cost of the cheapest way between it and the start, where the line from a start that is a position to
  // its node counts.
  double cost = 0.0;

  friend bool operator==(const ReachableNode&, const ReachableNode&) = default;
};

struct ReachableNodes {
  // In the order of numbers. The start's node is among them, unless the line to it costs too much.
  std::vector<ReachableNode> nodes;
  std::uint64_t expanded = 0;
};

// Finds the nodes. The nearest enabled node that a position sees stands in for it (FindSeat); what else the
// position sees is not looked for. It takes the time of a flood (FloodGraph) of what is within the cost.
//
// Returns the errors of FindSeat with "start", and of FindRequiredTags; INVALID_ARGUMENT / BAD_VALUE with
// "max_cost", or with "start" if the region does not hold its node; FAILED_PRECONDITION / START_BLOCKED with
// "start"; and the errors of StatusOfFlood. REQUIRES: the snap radius is finite, and 0 or more.
absl::StatusOr<ReachableNodes> FindReachableNodes(const WaypointGraph& graph,
                                                  const ReachableNodesQuery& query, const Budget& budget,
                                                  GraphScratch& scratch);

}  // namespace waystar::core
