// Marks that a route query and its answer add to the picture of their map.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/core/query/route.h"
#include "server/core/query/route_query.h"
#include "server/render/scene/graph_scene.h"
#include "server/render/scene/mesh_scene.h"
#include "server/render/scene/query_marks.h"

namespace waystar::core {

// Returns the marks of a route on the grid with that id: its goals and the legs on that map.
QueryMarks ToQueryMarks(absl::string_view map, const RouteQuery& query, const Route& route);

// REQUIRES: the route is on a waypoint graph.
GraphQueryMarks ToGraphQueryMarks(const RouteQuery& query, const Route& route);

// Returns the marks of a route on the navigation mesh with that id: its goals and the legs on that map. With
// a corridor, the legs follow the surface.
// REQUIRES: the route is on a navigation mesh.
MeshQueryMarks ToMeshQueryMarks(absl::string_view map, const RouteQuery& query, const Route& route);

// Returns a line such as "path found, cost 19.8; 39 expanded by A*".
std::string CaptionOf(const Route& route);

}  // namespace waystar::core
