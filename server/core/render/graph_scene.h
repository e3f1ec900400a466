// Scenes of waypoint graphs.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/grid/cell.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/core/search/query.h"

namespace waystar::core {

// What a query adds to the picture.
struct GraphQueryMarks {
  std::optional<WorldPoint> start;
  std::optional<WorldPoint> goal;
  // The points of the path; empty without one.
  std::vector<WorldPoint> way;
};

// Returns a scene of the nodes, edges and obstacles in a part of the world, in whole units of it, or of all
// there are, and of what a query adds, unless it is null. Edges that were put are dark, those made by sight
// light, those that are not open broken; a tip shows where an edge leads one way only. A few nodes have
// names.
//
// Returns the errors of GatherGraph. REQUIRES: the region is not empty.
absl::StatusOr<Scene> MakeGraphScene(const WaypointGraph& graph, const std::optional<Rectangle>& region,
                                     const RenderOptions& options, const GraphQueryMarks* query,
                                     const Budget& budget);

}  // namespace waystar::core
