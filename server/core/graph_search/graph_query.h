// Path queries on a waypoint graph and their results as plain values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/graph/node_pages.h"
#include "server/core/graph_search/graph_place.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphQuery {
  GraphPlace start;
  // At least one. The goal that is cheapest to reach counts.
  absl::InlinedVector<GraphPlace, 1> goals;
  // How far a position may be from the node that stands in for it: finite, 0 or more.
  double snap_radius = 0.0;
  // kAStar (which kAuto means) or kDijkstra.
  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  // Only edges that carry all of these tags are used: the tags of the agent's profile. They obey CheckTags.
  std::vector<std::string> required_tags;
};

struct GraphPathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // The cost of the edges, plus the lengths of the straight lines from a start that is a position to the
  // first node and from the last node to a goal that is one.
  double cost = 0.0;
  // The nodes live in the scratch of the search until its next search. They are empty without a path, and
  // where start and goal see each other and need none.
  absl::Span<const NodeNumber> nodes;
  // True if the path ends at the goal that was asked for, be it a node or a position.
  bool reaches_goal = false;
  // The index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
  SearchStatistics statistics;
};

}  // namespace waystar::core
