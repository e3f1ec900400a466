// Moves on navigation meshes: where an agent comes that walks straight on and slides along walls.
#pragma once

#include <cstddef>

#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/polygon_meter.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// So many polygons a move that meets a wall looks at. Moves of a frame see a few.
inline constexpr std::size_t kMaxMovePolygons = 1024;

struct MeshMove {
  // Where the agent comes, on the surface.
  MeshPlace end;
  // Whether a wall keeps it from the target, seen from above.
  bool is_blocked = false;
  // The direction away from that wall, into the polygon of the end: of length 1, seen from above. Where walls
  // meet it is that of the wall that faces the target least.
  Point wall_normal = {};

  friend bool operator==(const MeshMove&, const MeshMove&) = default;
};

// Moves an agent from the start towards the target, as far as the surface allows in a step.
//
// The step is the circle around the middle of the way, through the start and the target, and the surface in
// it that is joined to the start within it: not behind a wall that the circle does not go round, and not on
// another floor. The end is the point of that surface that is nearest to the target, seen from above. So an
// agent that nothing stops comes to the target; one that walks into a wall slides along it to where it is
// nearest to the target, since that lies on the circle (Thales), and goes on straight where the wall ends;
// and none ever comes further from its start than the target is. One that stands in a corner stays there.
// Within the circle it does go round the end of a wall, as small steps do. This is what the moveAlongSurface
// of Detour (Mononen, 2009) looks for, but that may leave the circle, and ends where its queue is full.
//
// The surface is found breadth-first, over edges that have a point in the circle. That finds all of it: a
// polygon and the circle are convex, so what they share is in one piece. Where it lies above the target more
// than once, as on a spiral staircase, the floor counts on which a ray arrives, and else the first polygon
// that is found. Among points that are equally near, the wall whose normal points most against the rest of
// the way counts, and then the first that is found.
//
// Integers decide which polygons a straight way leads through and which has the target. What the circle cuts
// off is computed in double precision, and the same on every machine. The end is the rounded point of
// NavMesh::NearestPoint.
//
// It costs O(corners of the polygons that the ray crosses), and where a wall stops that O(corners of the
// polygons in the circle), of which it looks at kMaxMovePolygons: of longer moves over finer meshes the end
// is the nearest point of those, and at least as near as where the ray ends.
//
// The meter counts those polygons, and once it says to stop the move is not to be used.
//
// REQUIRES: the start is a place that NavMesh::FindNearest could return; the target obeys CheckPosition.
MeshMove MoveAlongSurface(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& target,
                          PolygonMeter* meter = nullptr);

}  // namespace waystar::core
