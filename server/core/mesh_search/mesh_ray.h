// Ray casting on navigation meshes: how far one can go along the surface in a straight line.
#pragma once

#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/polygon_meter.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

struct MeshRayHit {
  // Whether a wall ends the ray before it comes to where the goal is, seen from above.
  bool is_blocked = false;
  // Whether the ray comes to the goal itself: not if a wall ends it, nor if it arrives on another floor,
  // above the goal or below.
  bool reaches_goal = false;
  // Where the ray ends: on the wall, or at the goal, or above or below it on the floor on which it arrives.
  MeshPlace end;
  // How far that is, as a part of the whole way, and as a length seen from above.
  double fraction = 1.0;
  double length = 0.0;
  // The direction away from the wall that ends it, into the polygon of the end: of length 1, seen from above.
  // Where several walls meet it is that of the one that points most against the ray. 0 without a wall.
  Point wall_normal = {};

  friend bool operator==(const MeshRayHit&, const MeshRayHit&) = default;
};

// Casts a ray that goes along the surface from the start, straight on as seen from above, through the edges
// between polygons (Devillers, Pion, Teillaud, "Walking in a triangulation", 2002). It may go along a wall or
// touch its end, and through a vertex to any polygon that edges at the vertex join; polygons that meet in a
// vertex alone are not joined there, though a ray begins and ends in any of them if the start or the goal is
// such a vertex. So it reaches the goal exactly if SearchMesh finds a straight line to it.
//
// Integers decide what lies on which side of the ray, so the hit is the same on every machine. The end on a
// wall is the rounded point of NearestPoint, and so are heights. A ray may arrive on several floors if it
// leads through the middle of a spiral staircase: then the goal's counts if it is among them, else the one
// that is nearest to it in height, and among equals the polygon with the least number.
//
// It costs O(corners of the polygons that the ray touches). They are counted by the meter, and once that says
// to stop the hit is not to be used.
//
// REQUIRES: start and goal are places that NavMesh::FindNearest could return.
MeshRayHit CastMeshRay(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                       PolygonMeter* meter = nullptr);

// As above, to a position that need not be on the mesh. Any floor on which the ray arrives counts as the
// goal's. REQUIRES: the position obeys CheckPosition.
MeshRayHit CastMeshRay(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& goal,
                       PolygonMeter* meter = nullptr);

// As the first, but where polygons meet in a vertex alone the ray begins and ends in those alone that edges
// there join to the polygon of the start, and to that of the goal. A goal without a polygon is a position as
// above, and rounded.
MeshRayHit CastMeshRayInFan(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                            PolygonMeter* meter = nullptr);

}  // namespace waystar::core
