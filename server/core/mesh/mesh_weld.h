// Joins polygons that each have their own vertices into a mesh.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// How far apart vertices may be that are taken for one, and a vertex from an edge that it is taken to lie on.
// REQUIRES: both are 0 or more.
struct WeldTolerance {
  // Seen from above.
  double plan = 0.0;
  double height = 0.0;

  friend bool operator==(const WeldTolerance&, const WeldTolerance&) = default;
};

// A polygon may have this many corners at most, vertices of others in the middle of its edges included.
inline constexpr std::size_t kMaxWeldCorners = 4096;

// Polygons as programs write them.
struct MeshSoup {
  // Polygons of 3 to kMaxWeldCorners corners, whose loops may run either way and may be dented. `neighbours`
  // is empty. REQUIRES: vertices obey CheckPosition, corners name vertices, and areas are below
  // kMaxMeshAreas.
  MeshSpec spec;
  // For each corner whether the edge from it to the next corner may be joined to edges with other vertices.
  // If it is empty, all edges may be.
  std::vector<bool> seams;
};

// The result of welding a soup, apart from the mesh.
struct WeldReport {
  // The number of polygons that were dropped.
  std::size_t dropped = 0;
  // For each polygon of the mesh the one of the soup that it is, or is a piece of.
  std::vector<PolygonNumber> origins;
  // Pairs of polygons of the soup, each once and the lesser number first, dropped ones as well, that have
  // seams along each other for more than twice the tolerance, seen from above, and that cross there or are
  // within twice the tolerance in height at one end. Some of them are joined. It is empty if all edges may be
  // joined.
  std::vector<std::pair<PolygonNumber, PolygonNumber>> overlaps;
};

// Returns a mesh that NavMesh::Create takes:
// - A vertex within the tolerance of an earlier one becomes the nearest of those. The first of them stays
//   where it is, and the others go there.
// - Where a vertex lies on an edge that has no neighbour, the edge is split there, so that edges that overlap
//   are joined. If `seams` is not empty and the heights of such edges agree along a part of the overlap
//   alone, they get a vertex in common where it begins and one where it ends, half way between them in
//   height, and that part is joined.
// - Loops run counterclockwise. Polygons without area are dropped, and edges of others that they lie at may
//   be joined. If `seams` is not empty, so are those that the tolerance covers and that run the other way
//   than most: they lie on their neighbours.
// - Polygons that are not convex, or have more than half of kMaxPolygonCorners corners, become triangles.
// - If an edge has more than one polygon on a side, the first one of the spec is joined there, and the others
//   have a wall: they get a vertex of their own in the middle of that edge.
// Polygons keep their order, as do vertices, and those that no polygon has are left out. The same soup gives
// the same mesh on every machine.
//
// `report` is set if it is not null.
//
// Returns INVALID_ARGUMENT / BAD_SIZE without a field if a polygon, or all of them together, would have too
// many corners, or so many vertices lie on or near edges that it would take more than some seconds; or the
// error of `stop`. What is too much does not depend on the machine. It takes memory in proportion to the soup
// and the result, and O(n log n) time where few vertices lie near each other.
absl::StatusOr<MeshSpec> WeldMesh(MeshSoup soup, const WeldTolerance& tolerance,
                                  const StopCheck* stop = nullptr, WeldReport* report = nullptr);

}  // namespace waystar::core
