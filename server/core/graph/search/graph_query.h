// Path queries on a waypoint graph and their results as plain values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/search/graph_place.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphQuery {
  GraphPlace start;
  // At least one. The path leads to the goal that is cheapest to reach.
  absl::InlinedVector<GraphPlace, 1> goals;
  // Maximum distance from a position to the node that represents it: finite and not negative.
  double snap_radius = 0.0;
  // kAStar (the meaning of kAuto) or kDijkstra.
  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  // Only edges with all of these tags are used: the tags of the agent's profile. Valid by CheckTags.
  std::vector<std::string> required_tags;
};

struct GraphPathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // Cost of the edges, plus the lengths of the straight lines from a start position to the first node and
  // from the last node to a goal position.
  double cost = 0.0;
  // Nodes of the path, stored in the scratch until its next search. Empty without a path, and if start and
  // goal see each other and need no node.
  absl::Span<const NodeNumber> nodes;
  // True if the path ends at the requested goal, a node or a position.
  bool reaches_goal = false;
  // Index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
  SearchStatistics statistics;
};

}  // namespace waystar::core
