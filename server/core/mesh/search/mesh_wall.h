// Distance to the nearest wall of a navigation mesh, and normals of walls.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/query.h"
#include "server/geometry/shape.h"

namespace waystar::core {

struct MeshWall {
  // Nearest point of the wall, in a polygon beside it.
  MeshPlace end;
  // Distance to that point, seen from above.
  double distance = 0.0;
  // Unit vector away from the wall, towards the place, seen from above. If the place is on the wall, the
  // direction into the polygon.
  Point normal;

  friend bool operator==(const MeshWall&, const MeshWall&) = default;
};

struct MeshWallReport {
  // Unset if no wall is within the radius.
  std::optional<MeshWall> wall;
  // Number of polygons visited, plus walls on open ground.
  std::uint64_t expanded = 0;
};

// Finds the nearest point of a wall that is at most `radius` away, seen from above, and on the floor of the
// place: a straight line along the surface must lead to it. A wall is an edge with a polygon on one side.
//
// Near a wall, a flood finds it. Polygons are visited in the order of the distance of the edges through which
// they are entered, starting with those around the place (Dijkstra over the edges of polygons), until no edge
// is nearer than the nearest wall.
//
// On open ground, the mesh's tree of walls finds it. Walls are visited in order of distance, and the first
// one from which a straight line leads to the place counts. This costs O(log walls), plus O(polygons along
// that line). Walls of other floors are visited first if they are nearer. After each wall the flood continues
// for as long, so that the search visits at most about twice as many polygons as the flood alone.
//
// The result is always in sight, although the flood does not check lines. Let d be the minimum distance at
// which a straight line from the place ends at a wall. A line to that point crosses only edges nearer than d,
// so the flood passes them and finds a wall at d or nearer. Conversely, lines in all directions are free up
// to d, and the surface that they sweep is a disc without walls. The flood cannot leave that disc through an
// edge nearer than d: a polygon and the disc are convex, so their intersection is connected, and each
// intersection is connected to the next by the part of their edge in the disc. No wall that the flood finds
// is therefore nearer than d, and one at d is the end of such a line.
//
// Walls at the same distance are ordered by how near their polygons can be entered, then by polygon number,
// then by edge. Distances are computed in double precision, the same on every machine.
//
// Returns the errors of InterruptionError, or RESOURCE_EXHAUSTED / REGION_TOO_LARGE if it would visit more
// than budget.max_expansions polygons and walls.
//
// REQUIRES: the place is one that NavMesh::FindNearest could return; radius is not negative.
absl::StatusOr<MeshWallReport> FindNearestWall(const NavMesh& mesh, const MeshPlace& place, double radius,
                                               const Budget& budget);

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
