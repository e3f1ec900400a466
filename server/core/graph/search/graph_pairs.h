// Costs and reachability between places on a waypoint graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphMatrixQuery {
  // Places, at least one each; one may occur more than once.
  absl::Span<const GraphPlace> starts;
  absl::Span<const GraphPlace> goals;
  // As in GraphQuery; likewise required_tags.
  double snap_radius = 0.0;
  std::vector<std::string> required_tags;
};

struct GraphMatrix {
  static constexpr double kUnreachable = -1.0;

  // One row per start with an entry per goal: the cost that FindGraphPath finds; kUnreachable if there is no
  // path, or if start or goal is disabled.
  std::vector<double> costs;
  std::uint64_t expanded = 0;
};

// Computes the matrix. A flood runs from each distinct start node, or goal node if there are fewer, until all
// nodes of the other side are reached. A position that sees all places of the other side (SeeEachOther) needs
// no node.
//
// Returns the errors of FindSeat with "starts[i]" or "goals[i]", of FindRequiredTags and of StatusOfFlood.
// REQUIRES: the snap radius is finite and not negative.
absl::StatusOr<GraphMatrix> ComputeGraphMatrix(const WaypointGraph& graph, const GraphMatrixQuery& query,
                                               const Budget& budget, GraphScratch& scratch);

struct GraphPair {
  GraphPlace start;
  GraphPlace goal;
};

struct GraphReachabilityQuery {
  absl::Span<const GraphPair> pairs;
  // As in GraphQuery; likewise required_tags.
  double snap_radius = 0.0;
  std::vector<std::string> required_tags;
};

// Returns, for each pair in order, true if FindGraphPath finds a path; false if either place is a disabled
// node. A flood runs from each distinct start node of a pair, or end node if there are fewer, until the other
// nodes of its pairs are reached.
//
// Returns the errors of FindSeat with "pairs[i].start" or "pairs[i].goal", of FindRequiredTags and of
// StatusOfFlood.
// REQUIRES: the snap radius is finite and not negative.
absl::StatusOr<std::vector<bool>> CheckGraphReachability(const WaypointGraph& graph,
                                                         const GraphReachabilityQuery& query,
                                                         const Budget& budget, GraphScratch& scratch);

}  // namespace waystar::core
