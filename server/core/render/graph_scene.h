// Scenes of waypoint graphs.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/render/graph_marks.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/core/search/query.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// Returns a scene of the nodes, edges and obstacles in an area of the world, or of all there are, and of what
// a query adds, unless it is null. Edges that were put are dark, those made by sight light, those that are
// not open broken; a tip shows where an edge leads one way only. A few nodes have names. A search colours the
// nodes that it came to, and the edges that it came by, by what the way costs. Nodes that all lie at one
// point are laid out (GraphLayout), and nothing else is drawn then but edges and the query.
//
// Returns the errors of GatherGraph. REQUIRES: the area has a width and a height.
absl::StatusOr<Scene> MakeGraphScene(const WaypointGraph& graph, const std::optional<Box>& area,
                                     const RenderOptions& options, const GraphQueryMarks* query,
                                     const Budget& budget);

}  // namespace waystar::core
