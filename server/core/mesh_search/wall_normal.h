// Which way walls of navigation meshes face.
#pragma once

#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/polygon_meter.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// Returns the direction to the left of the line from a to b, of length 1: the normal of a wall whose polygon
// is on that side. REQUIRES: a and b differ, seen from above.
Point LeftOf(const WorldPoint& a, const WorldPoint& b);

// Returns the normal of the wall at the place, that of one of its polygons as FindPolygonsAround says, which
// stops most of what goes in `direction`: the one that points most against it, and of equal ones the first.
// Without a wall it is opposite to the direction. It costs O(corners of those polygons). REQUIRES: the
// direction has length 1. The polygons are counted by the meter.
Point WallNormalAt(const NavMesh& mesh, const MeshPlace& place, const Point& direction,
                   PolygonMeter* meter = nullptr);

}  // namespace waystar::core
