// Extras of a route that a query may ask for besides the path.
#pragma once

#include <vector>

#include "server/core/graph_search/graph_query.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/mesh_query.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"

namespace waystar::core {

// Adds positions and the summary, if the query asked for them: those of each leg by the map that it lies on.
void AddExtras(const ResolvedRoute& resolved, Route& route);

// Returns a start that is a position, the nodes, and a goal that is a position and is reached.
std::vector<Position> PositionsOnGraph(const WaypointGraph& graph, const GraphQuery& query,
                                       const GraphPathResult& found);

// Returns the length and the turns of a path on a waypoint graph. It has no legs. A point is a turn unless
// the ways to it and from it have one direction, to some parts of a billion.
RouteSummary SummaryOf(const std::vector<Position>& positions);

// Returns the length in space of a path on a navigation mesh, as its surface leads, and the turns. It has no
// legs. REQUIRES: there is a path.
RouteSummary SummaryOnMesh(MeshAgent& agent, const MeshPathResult& found,
                           absl::Span<const MeshCrossing> crossings);

// A leg of a path on navigation meshes.
struct MeshLeg {
  const NavMesh* mesh = nullptr;
  // True if it lies on the map of the query.
  bool is_home = true;
  absl::Span<const WorldPoint> corners;
  absl::Span<const PolygonNumber> corridor;
};

// Cuts a path where it goes through portals. Corners or corridor may be left empty. REQUIRES: the crossings
// are those of the path, which the agent's query found.
std::vector<MeshLeg> LegsOnMeshes(MeshAgent& agent, absl::Span<const WorldPoint> corners,
                                  absl::Span<const PolygonNumber> corridor,
                                  absl::Span<const MeshCrossing> crossings);

}  // namespace waystar::core
