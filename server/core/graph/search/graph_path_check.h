// Validation of a path on a waypoint graph that was found earlier.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Maximum number of nodes of a path.
inline constexpr std::size_t kMaxValidatedNodes = kMaxNodes;

struct GraphPathToCheck {
  // Ids of the nodes in path order. May be empty if both positions are given; the path is then the straight
  // line between them.
  absl::Span<const std::string> nodes;
  // Position from which a straight line leads to the first node, and position to which one leads from the
  // last node.
  std::optional<WorldPoint> start;
  std::optional<WorldPoint> goal;
  // Every edge must carry all of these tags; straight lines need none. Valid by CheckTags.
  std::vector<std::string> required_tags;
};

struct GraphPathCheck {
  bool is_walkable = false;
  // If not walkable, the index of the first node that cannot be entered from the previous one or from the
  // start; the number of nodes if the goal cannot be reached from the last node.
  std::size_t blocked_index = 0;
  // Id of that node; empty for the goal.
  std::string blocked_node;
  // Id of the named obstacle that blocks the path there, the first one in the order of CastGraphRay. Empty if
  // no obstacle does: the node was removed or disabled, the edge was removed, disabled or lacks a tag, or the
  // line first touches the reference grid.
  std::string obstacle;
  // Cost of the whole path, or of the part up to the node before `blocked_index`.
  double cost = 0.0;

  friend bool operator==(const GraphPathCheck&, const GraphPathCheck&) = default;
};

// Checks whether a path is walkable, and computes its cost. A path that FindGraphPath returned is walkable,
// at the same cost, on the graph on which it was found. A node that does not exist is not an error: it may
// have been removed since.
//
// Costs O(log nodes + log arcs of the node) per node, plus the cost of the lines and the first fault: see
// CastGraphRay. The budget's limit on expansions is ignored.
//
// Returns INVALID_ARGUMENT / BAD_NODE_ID ("nodes[3]"; the whole list is checked), BAD_VALUE
// ("start.position.x", "goal.position.y", ...), BAD_PROFILE ("agent.profile.required_tags[0]"), MISSING_FIELD
// ("nodes": empty, and a position is missing); RESOURCE_EXHAUSTED / PATH_TOO_LONG ("nodes"); and the errors
// of InterruptionError.
absl::StatusOr<GraphPathCheck> ValidateGraphPath(const WaypointGraph& graph, const GraphPathToCheck& path,
                                                 const Budget& budget = {});

}  // namespace waystar::core
