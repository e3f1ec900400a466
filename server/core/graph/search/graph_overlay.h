// Overlay of a waypoint graph: changes that apply to a single query.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/geometry/shape.h"

namespace waystar::core {

struct GraphOverlay {
  // Area that blocks sight and edges as a named obstacle of that shape would. It may lie anywhere.
  std::optional<Shape> blocked;
  // Ids of named obstacles to ignore. Unknown ids have no effect.
  std::vector<std::string> ignored_obstacles;
  // Ids of nodes to treat as disabled.
  std::vector<std::string> blocked_nodes;
  // Edges to treat as disabled.
  std::vector<EdgeName> blocked_edges;

  bool empty() const {
    return !blocked && ignored_obstacles.empty() && blocked_nodes.empty() && blocked_edges.empty();
  }

  friend bool operator==(const GraphOverlay&, const GraphOverlay&) = default;
};

// Maximum number of entries in each list of an overlay, and of parts of the shape.
inline constexpr std::size_t kMaxOverlayEntries = 1000;

// Returns the graph with the overlay applied. It shares unchanged parts with the original and costs as much
// as the same edits (GraphEditor); the original is unchanged. Nodes keep their numbers and ids. The blocked
// area has the id GraphEditor::kAreaId, which no obstacle can have.
//
// Obstacles are ignored first, and the area is blocked last. An edge that appears when an obstacle is ignored
// can therefore be blocked, and so can an edge that the area closes.
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
