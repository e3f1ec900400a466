// Validation of a path on a waypoint graph that was found earlier.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph/world_point.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How many nodes a path to be validated may have.
inline constexpr std::size_t kMaxValidatedNodes = kMaxNodes;

struct GraphPathToCheck {
  // The ids of the nodes in the order of the path. They may be empty if both positions are given: then the
  // path is the straight line between these.
  absl::Span<const std::string> nodes;
  // The positions from which a straight line leads to the first node, and to which one leads from the last.
  std::optional<WorldPoint> start;
  std::optional<WorldPoint> goal;
  // Every edge must carry all of these tags. They obey CheckTags. Straight lines need none.
  std::vector<std::string> required_tags;
};

struct GraphPathCheck {
  bool is_walkable = false;
  // If not walkable, the index of the first node that cannot be entered from the one before, or from the
  // start; the number of nodes if it is the goal that cannot be reached from the last.
  std::size_t blocked_index = 0;
  // The id of that node, or empty for the goal.
  std::string blocked_node;
  // The id of the named obstacle that is in the way there, the first one as CastGraphRay has it. It is empty
  // if there is none: the node is gone or not enabled, the edge is gone, disabled or without the tags, or the
  // line touches the reference grid first.
  std::string obstacle;
  // The cost of the whole path, or of the part that ends with the node before `blocked_index`.
  double cost = 0.0;

  friend bool operator==(const GraphPathCheck&, const GraphPathCheck&) = default;
};

// Returns whether a path can be walked. A path that FindGraphPath returned is walkable at the same cost on
// the graph that it was found on. A node that does not exist is no error: the graph may have lost it since.
//
// It costs O(log nodes + log arcs of the node) for each node, plus what the lines and the first fault cost:
// see CastGraphRay. The budget is asked on the way; of it only what can interrupt counts.
//
// Returns INVALID_ARGUMENT / BAD_NODE_ID ("nodes[3]", looked for in the whole list), BAD_VALUE
// ("start.position.x", "goal.position.y", ...), BAD_PROFILE ("agent.profile.required_tags[0]"), MISSING_FIELD
// ("nodes": empty, and a position is missing); RESOURCE_EXHAUSTED / PATH_TOO_LONG ("nodes"); and the errors
// of InterruptionError.
absl::StatusOr<GraphPathCheck> ValidateGraphPath(const WaypointGraph& graph, const GraphPathToCheck& path,
                                                 const Budget& budget = {});

}  // namespace waystar::core
