// Optional parts of a route besides the path.
#pragma once

#include <vector>

#include "server/core/graph/search/graph_query.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"

namespace waystar::core {

// Adds positions and the summary if the query asked for them. Each leg uses the map that it lies on.
void AddExtras(const ResolvedRoute& resolved, Route& route);

// Returns a start given as a position, the nodes, and a reached goal given as a position.
std::vector<WorldPoint> PositionsOnGraph(const WaypointGraph& graph, const GraphQuery& query,
                                         const GraphPathResult& found);

// Returns the length and number of turns of a path on a waypoint graph; there are no legs. A point is a turn
// if the unit directions before and after it differ by more than 1e-9.
RouteSummary SummaryOf(const std::vector<WorldPoint>& positions);

// Returns the length in space along the surface and the number of turns of a path on a navigation mesh; there
// are no legs.
// REQUIRES: there is a path.
RouteSummary SummaryOnMesh(MeshAgent& agent, const MeshPathResult& found,
                           absl::Span<const MeshCrossing> crossings);

// Leg of a path on navigation meshes.
struct MeshLeg {
  const NavMesh* mesh = nullptr;
  // True if the leg lies on the query's own map.
  bool is_home = true;
  absl::Span<const WorldPoint> corners;
  absl::Span<const PolygonNumber> corridor;
};

// Splits a path at its portals. `corners` or `corridor` may be empty.
// REQUIRES: the crossings are those of the path, which was found with this agent.
std::vector<MeshLeg> LegsOnMeshes(MeshAgent& agent, absl::Span<const WorldPoint> corners,
                                  absl::Span<const PolygonNumber> corridor,
                                  absl::Span<const MeshCrossing> crossings);

}  // namespace waystar::core
