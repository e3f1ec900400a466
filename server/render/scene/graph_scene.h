// Scenes of waypoint graphs.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/node_recorder.h"
#include "server/core/search/query.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// A point of a query: a node, or a position without one.
struct GraphMark {
  WorldPoint position;
  NodeNumber node = kNoNodeNumber;
};

// Marks that a query adds to the picture.
struct GraphQueryMarks {
  std::optional<GraphMark> start;
  // The requested goals.
  std::vector<GraphMark> goals;
  // Points of the path; empty without a path.
  std::vector<GraphMark> way;
  // Events of the search; empty if it is not drawn. They must outlive the marks.
  absl::Span<const NodeEvent> events;
};

// Returns a scene of the nodes, edges and obstacles in an area of the world, or of the whole graph if unset,
// and of the query if not null. Explicit edges are dark, automatic ones light, closed ones dashed; an
// arrowhead marks one-way edges. Names are drawn if there are few nodes. A search colours the nodes that it
// reached, and the edges to them, by cost. Nodes that all lie at one point are laid out (GraphLayout); then
// only edges and the query are drawn.
//
// Returns the errors of GatherGraph.
// REQUIRES: the area has a width and a height.
absl::StatusOr<Scene> MakeGraphScene(const WaypointGraph& graph, const std::optional<Box>& area,
                                     const RenderOptions& options, const GraphQueryMarks* query,
                                     const Budget& budget);

}  // namespace waystar::core
