// Matrices of the costs of going from each of some places on a waypoint graph to each of others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph_search/graph_place.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphMatrixQuery {
  // At least one of each; a place may occur more than once.
  absl::Span<const GraphPlace> starts;
  absl::Span<const GraphPlace> goals;
  // As in GraphQuery, also below.
  double snap_radius = 0.0;
  std::vector<std::string> required_tags;
};

struct GraphMatrix {
  static constexpr double kUnreachable = -1.0;

  // Row by row, a row for each start with an entry for each goal: the cost that FindGraphPath finds for the
  // two. It is kUnreachable where no path leads, and where start or goal is disabled.
  std::vector<double> costs;
  std::uint64_t expanded = 0;
};

// Computes the matrix. Each distinct node that starts begin at, or that goals end at if those are fewer, is
// flooded from until all nodes of the other side are reached. A position that sees all places of the other
// side (SeeEachOther) needs no node.
//
// Returns the errors of FindSeat with "starts[i]" or "goals[i]", of FindRequiredTags and of StatusOfFlood.
// REQUIRES: the snap radius is finite, and 0 or more.
absl::StatusOr<GraphMatrix> ComputeGraphMatrix(const WaypointGraph& graph, const GraphMatrixQuery& query,
                                               const Budget& budget, GraphScratch& scratch);

}  // namespace waystar::core
