// Normals of the walls of navigation meshes.
#pragma once

#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/polygon_meter.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Returns the unit vector to the left of the line from a to b: the normal of a wall whose polygon is on that
// side.
// REQUIRES: a and b differ, seen from above.
Point LeftOf(const WorldPoint& a, const WorldPoint& b);

// Returns the normal of the wall at the place, belonging to one of the polygons of FindPolygonsAround, that
// opposes `direction` most; the first among equals. Without a wall, returns the opposite of the direction.
// Costs O(corners of those polygons), which the meter counts.
// REQUIRES: the direction has length 1.
Point WallNormalAt(const NavMesh& mesh, const MeshPlace& place, const Point& direction,
                   PolygonMeter* meter = nullptr);

}  // namespace waystar::core
