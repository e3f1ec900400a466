// Clipping of found paths at a cost or length, and their division into turns of a game, on maps of any kind.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Maximum number of turn ends of a path.
inline constexpr std::size_t kMaxTurnEnds = 10'000;

// These clip a path as the query asks, and set `rest` and `turn_ends` of the route. They return
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "turn_budget" if there are more than kMaxTurnEnds.
//
// On a grid the path, which has every cell, also takes on the form of the query.
// REQUIRES: the route refers to a path of PathForm::kEveryCell.
absl::Status ClipOnGrid(const ResolvedRoute& resolved, Route& route);
// On a waypoint graph, nodes and positions are clipped.
absl::Status ClipOnGraph(const WaypointGraph& graph, const PathClip& clip, Route& route);
// On a mesh, the path is clipped before the route is made from it. `corners` stores its corners.
absl::Status ClipOnMesh(MeshAgent& agent, const PathClip& clip, MeshPortalPath& whole,
                        std::vector<WorldPoint>& corners, Route& route);

}  // namespace waystar::core
