// Walls of navigation meshes: how far the nearest one is.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/search/query.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

struct MeshWall {
  // The nearest point of the wall, in a polygon beside it.
  MeshPlace end;
  // How far that is, seen from above.
  double distance = 0.0;
  // The direction away from the wall, towards the place: of length 1, seen from above. Of a place on the wall
  // it is the direction into the polygon.
  Point normal;

  friend bool operator==(const MeshWall&, const MeshWall&) = default;
};

struct MeshWallReport {
  // Nothing if no wall is so near.
  std::optional<MeshWall> wall;
  // How many polygons were looked at, and walls on open ground.
  std::uint64_t expanded = 0;
};

// Finds the nearest point of a wall that is at most `radius` away, seen from above, and on the floor of the
// place: one to which a straight line leads along the surface. A wall is an edge with a polygon on one side.
//
// Near a wall a flood finds it. Polygons are looked at in the order of how near the edges are through which
// they are entered, beginning with those around the place (Dijkstra, over the edges of polygons), until no
// edge is nearer than the nearest wall.
//
// On open ground the mesh's tree of walls finds it. Walls are looked at in the order of how near they are,
// and the first counts from which a straight line leads to the place. So it costs O(log walls), and
// O(polygons along that line). Walls of other floors come first where they are nearer. After each of them the
// flood goes on for as long, so that the search looks at no more than about twice as many polygons as the
// flood alone.
//
// What it finds is always in sight, though the flood looks along no line. Say that d is the least distance at
// which a straight line from the place ends at a wall. A line to there crosses only edges that are nearer
// than d, so the flood goes through them and finds a wall at d or nearer. On the other hand lines of all
// directions are free for d, and the surface that they sweep is a disc without walls in it. The flood cannot
// leave that disc through an edge that is nearer than d: a polygon and the disc are convex, so what they
// share is in one piece, and each piece is joined to the next by the part of their edge that lies in the
// disc. So no wall that the flood finds is nearer than d, and one that it finds at d is the end of such a
// line.
//
// Walls at the same distance count in the order of how near their polygons can be entered, those by number,
// and then in the order of their edges. Distances are computed in double precision, and the same on every
// machine.
//
// Returns the errors of InterruptionError, and RESOURCE_EXHAUSTED / REGION_TOO_LARGE if it would look at more
// than budget.max_expansions of them.
//
// REQUIRES: the place is one that NavMesh::FindNearest could return; radius is 0 or more.
absl::StatusOr<MeshWallReport> FindNearestWall(const NavMesh& mesh, const MeshPlace& place, double radius,
                                               const Budget& budget);

}  // namespace waystar::core
