// Nodes of a waypoint graph within a cost of a start, and flow fields: the next node from every node towards
// the nearest goal, for many agents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct ReachableNodesQuery {
  GraphPlace start;
  // As in GraphQuery; likewise required_tags.
  double snap_radius = 0.0;
  std::vector<std::string> required_tags;
  // Maximum cost; see ToMaxCost. If unset, all reachable nodes are returned.
  std::optional<double> max_cost;
  // Area that paths may not leave, seen from above, including its edges; unlimited if unset.
  std::optional<Box> region;
  // kToSeeds finds the nodes from which the start is within the cost.
  GraphSense sense = GraphSense::kFromSeeds;
};

struct ReachableNode {
  NodeNumber node = 0;
  // Cost of the cheapest path between the node and the start, including the line from a start position to its
  // node.
  double cost = 0.0;

  friend bool operator==(const ReachableNode&, const ReachableNode&) = default;
};

struct ReachableNodes {
  // Nodes in the order of their numbers, with the start's node unless the line to it exceeds the cost.
  std::vector<ReachableNode> nodes;
  std::uint64_t expanded = 0;
};

// Finds the nodes. A position is represented by the nearest enabled node that it sees (FindSeat); other nodes
// that it sees are not used. Takes the time of a flood (FloodGraph) of the nodes within the cost.
//
// Returns the errors of FindSeat with "start", and of FindRequiredTags; INVALID_ARGUMENT / BAD_VALUE with
// "max_cost", or with "start" if the region does not contain its node; FAILED_PRECONDITION / START_BLOCKED
// with "start"; and the errors of StatusOfFlood.
// REQUIRES: the snap radius is finite and not negative.
absl::StatusOr<ReachableNodes> FindReachableNodes(const WaypointGraph& graph,
                                                  const ReachableNodesQuery& query, const Budget& budget,
                                                  GraphScratch& scratch);

struct GraphFlowQuery {
  // Goals, at least one. Disabled nodes are skipped.
  absl::Span<const GraphPlace> goals;
  // As in GraphQuery; likewise required_tags.
  double snap_radius = 0.0;
  std::vector<std::string> required_tags;
  // Nodes with a more expensive path to the goals are omitted; see ToMaxCost.
  std::optional<double> max_cost;
  // Area that paths may not leave, seen from above, including its edges; unlimited if unset.
  std::optional<Box> region;
};

struct GraphFlowStep {
  NodeNumber node = 0;
  // Next node on the cheapest path to a goal, or kNoNodeNumber where the path ends: at a goal, or at the node
  // that represents a goal position.
  NodeNumber next = kNoNodeNumber;
  // Cost of the path, including the line from the last node to a goal position.
  double cost = 0.0;

  friend bool operator==(const GraphFlowStep&, const GraphFlowStep&) = default;
};

struct GraphFlow {
  // Steps from every node with a path to a goal, in the order of node numbers.
  std::vector<GraphFlowStep> steps;
  std::uint64_t expanded = 0;
};

// Computes the flow. Following `next` from any node leads to a goal at the cost of that node. Ties are broken
// the same way on every machine. Takes the time of a flood (FloodGraph) of the nodes within the cost.
//
// Returns the errors of FindReachableNodes with "goals[i]" instead of "start", except FAILED_PRECONDITION /
// GOAL_BLOCKED with "goals" only if all goals are disabled.
// REQUIRES: there is a goal; the snap radius is finite and not negative.
absl::StatusOr<GraphFlow> ComputeGraphFlow(const WaypointGraph& graph, const GraphFlowQuery& query,
                                           const Budget& budget, GraphScratch& scratch);

}  // namespace waystar::core
