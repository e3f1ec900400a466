// An overlay of a waypoint graph: changes that a single query sees.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/graph/waypoint.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

struct GraphOverlay {
  // An area that blocks sight and edges as a named obstacle of that shape would. It may lie anywhere.
  std::optional<Shape> blocked;
  // Ids of named obstacles to treat as if they were not there. Ids that are not on the map are ignored.
  std::vector<std::string> ignored_obstacles;
  // Ids of nodes to treat as not enabled.
  std::vector<std::string> blocked_nodes;
  // Edges to treat as not enabled.
  std::vector<EdgeName> blocked_edges;

  bool empty() const {
    return !blocked && ignored_obstacles.empty() && blocked_nodes.empty() && blocked_edges.empty();
  }

  friend bool operator==(const GraphOverlay&, const GraphOverlay&) = default;
};

// How many entries each list of an overlay may have, and parts the shape.
inline constexpr std::size_t kMaxOverlayEntries = 1000;

// Returns the graph under the overlay. It shares with the graph all that the overlay leaves as it is, and
// costs what the same edits would cost (GraphEditor); the graph itself stays as it was. Nodes keep their
// numbers and ids. The area that is blocked has the id GraphEditor::kAreaId, which no obstacle has.
//
// Obstacles are ignored first, and the area is blocked last: so an edge may be blocked that is there once an
// obstacle is ignored, and one that the area closes as well.
//
// Returns INVALID_ARGUMENT / BAD_VALUE for a list that is too long ("overlay.blocked_nodes", ...),
// BAD_OBSTACLE_ID ("overlay.ignored_obstacles[0]"), BAD_NODE_ID, BAD_EDGE or DUPLICATE_EDGE; the errors of
// CheckShape below "overlay.blocked"; NOT_FOUND / NODE_NOT_FOUND ("overlay.blocked_nodes[3]",
// "overlay.blocked_edges[1].from", ...) or EDGE_NOT_FOUND ("overlay.blocked_edges[1]"); RESOURCE_EXHAUSTED /
// BATCH_TOO_LARGE ("overlay.blocked", "overlay.ignored_obstacles[0]") or TOO_MANY_EDGES, as edits do; and the
// error of `stop`.
absl::StatusOr<WaypointGraph> WithGraphOverlay(const WaypointGraph& graph, const GraphOverlay& overlay,
                                               const StopCheck* stop = nullptr);

}  // namespace waystar::core
