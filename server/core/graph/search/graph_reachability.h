// Reachability of pairs of places on a waypoint graph.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_place.h"
#include "server/core/graph/search/graph_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphPair {
  GraphPlace start;
  GraphPlace goal;
};

struct GraphReachabilityQuery {
  absl::Span<const GraphPair> pairs;
  // As in GraphQuery, also below.
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
