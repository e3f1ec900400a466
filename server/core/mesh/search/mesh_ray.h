// Ray casting on navigation meshes: straight walks along the surface.
#pragma once

#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct MeshRayHit {
  // True if a wall ends the ray before it reaches the goal, seen from above.
  bool is_blocked = false;
  // True if the ray reaches the goal itself. False if a wall ends it, or if it arrives on another floor above
  // or below the goal.
  bool reaches_goal = false;
  // End of the ray: on the wall, at the goal, or above or below it on the floor on which it arrives.
  MeshPlace end;
  // Fraction of the ray's length up to the end, and that length seen from above.
  double fraction = 1.0;
  double length = 0.0;
  // Unit vector away from the wall that ends the ray, into the polygon of the end, seen from above. Where
  // several walls meet, the normal of the one that opposes the ray most. Zero without a wall.
  Point wall_normal = {};

  friend bool operator==(const MeshRayHit&, const MeshRayHit&) = default;
};

// Casts a ray along the surface from the start, straight as seen from above, through the edges between
// polygons (Devillers, Pion, Teillaud, "Walking in a triangulation", 2002). It may run along a wall or touch
// its end, and pass through a vertex to any polygon that edges at the vertex connect. Polygons that meet only
// in a vertex are not connected there; but if the start or goal is such a vertex, the ray starts or ends in
// any of them. The ray reaches the goal exactly if SearchMesh finds a straight line to it.
//
// Sides of the ray are decided in integers, so the hit is the same on every machine. The end on a wall is the
// rounded point of NearestPoint; heights are those of that point. A ray may arrive on several floors if it
// leads through the middle of a spiral staircase. The goal's floor counts if it is among them, else the
// nearest one in height, and among equals the polygon with the lowest number.
//
// Costs O(corners of the polygons that the ray touches). The meter counts these. Once it demands a stop, the
// result must not be used.
//
// REQUIRES: start and goal are places that NavMesh::FindNearest could return.
MeshRayHit CastMeshRay(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                       PolygonMeter* meter = nullptr);

// Casts a ray to a position that need not be on the mesh. Any floor on which it arrives counts as the goal's.
// REQUIRES: the position is valid by CheckPosition.
MeshRayHit CastMeshRay(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& goal,
                       PolygonMeter* meter = nullptr);

// Casts a ray that, where polygons meet only in a vertex, starts and ends only in those that edges connect to
// the polygon of the start and of the goal. A goal without a polygon is a rounded position off the mesh.
MeshRayHit CastMeshRayInFan(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal,
                            PolygonMeter* meter = nullptr);

}  // namespace waystar::core
