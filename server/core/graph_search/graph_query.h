// Path queries on a waypoint graph and their results as plain values.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/node_pages.h"
#include "server/core/graph/world_point.h"
#include "server/core/search/query.h"

namespace waystar::core {

// A node by its id, or a position.
using GraphPlace = std::variant<std::string, WorldPoint>;

struct GraphQuery {
  GraphPlace start;
  GraphPlace goal;
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
  SearchStatistics statistics;
};

}  // namespace waystar::core
