// Moves on navigation meshes: the end position of an agent that walks straight and slides along walls.
#pragma once

#include <cstddef>

#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Maximum number of polygons visited by a move that meets a wall. Moves of a frame visit a few.
inline constexpr std::size_t kMaxMovePolygons = 1024;

struct MeshMove {
  // End position, on the surface.
  MeshPlace end;
  // True if a wall keeps the agent from the target, seen from above.
  bool is_blocked = false;
  // Unit vector away from that wall, into the polygon of the end, seen from above. Where walls meet, the
  // normal of the wall that opposes the move most.
  Point wall_normal = {};

  friend bool operator==(const MeshMove&, const MeshMove&) = default;
};

// Moves an agent from the start towards the target, as far as the surface allows in one step.
//
// The step is limited to the circle with the segment from start to target as its diameter, and to the surface
// in it that is connected to the start within the circle: not behind a wall that the circle does not go
// around, and not on another floor. The end is the point of that surface nearest to the target, seen from
// above. An unobstructed agent therefore reaches the target. An agent that walks into a wall slides along it
// to the point nearest to the target, which lies on the circle (Thales), and continues straight where the
// wall ends. No agent ends further from its start than the target is. An agent in a corner stays there.
// Within the circle it goes around the end of a wall, as small steps do. Detour's moveAlongSurface (Mononen,
// 2009) searches for the same point, but may leave the circle and stops when its queue is full.
//
// The surface is found breadth-first over edges with a point in the circle. This finds all of it, because
// polygons and the circle are convex and their intersections are connected. Where the surface lies above the
// target more than once, as on a spiral staircase, the floor on which a ray arrives counts, else the first
// polygon found. Among equally near points, the wall whose normal opposes the rest of the move most counts,
// then the first found.
//
// Integers decide which polygons a straight line passes and which contains the target. Intersections with the
// circle are computed in double precision, the same on every machine. The end is the rounded point of
// NavMesh::NearestPoint.
//
// Costs O(corners of the polygons that the ray crosses) and, if a wall stops the ray, O(corners of the
// polygons in the circle), of which at most kMaxMovePolygons are visited. If there are more, the end is the
// nearest point of those visited, and at least as near as the end of the ray.
//
// The meter counts the visited polygons. Once it demands a stop, the result must not be used.
//
// REQUIRES: the start is a place that NavMesh::FindNearest could return; the target is valid by
// CheckPosition.
MeshMove MoveAlongSurface(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& target,
                          PolygonMeter* meter = nullptr);

}  // namespace waystar::core
