// The polygons of a navigation mesh that a place on an edge or a vertex belongs to.
#pragma once

#include <vector>

#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Adds the polygon of the place and those that its point joins to it: across an edge that it lies on, and
// around a vertex. What joins them is an edge, so walls keep polygons apart. A point that rounding has moved
// off an edge still lies on it.
void FindPolygonsAround(const NavMesh& mesh, const MeshPlace& place, std::vector<PolygonNumber>& polygons);

}  // namespace waystar::core
