// Joins polygons that each have their own vertices into a mesh.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"

namespace waystar::core {

// Maximum distance between vertices that are merged, and between a vertex and an edge that it counts as on.
// REQUIRES: neither is negative.
struct WeldTolerance {
  // Distance seen from above.
  double plan = 0.0;
  double height = 0.0;

  friend bool operator==(const WeldTolerance&, const WeldTolerance&) = default;
};

// Maximum number of corners of a polygon, including vertices of others in the middle of its edges.
inline constexpr std::size_t kMaxWeldCorners = 4096;

// Polygons as other programs write them.
struct MeshSoup {
  // Polygons of 3 to kMaxWeldCorners corners, whose loops may run in either direction and may be dented.
  // `neighbours` is empty.
  // REQUIRES: vertices are valid by CheckPosition, corners are valid vertex indices, and areas are below
  // kMaxMeshAreas.
  MeshSpec spec;
  // For each corner, true if the edge from it to the next corner may be joined to edges with other vertices.
  // If empty, all edges may be.
  std::vector<bool> seams;
  // So many vertices at the beginning are not merged into others.
  std::size_t fixed_vertices = 0;
};

// Result of welding a soup, apart from the mesh.
struct WeldReport {
  // Number of polygons that were dropped.
  std::size_t dropped = 0;
  // For each polygon of the mesh, the polygon of the soup that it is, or is a piece of.
  std::vector<PolygonNumber> origins;
  // Pairs of polygons of the soup, including dropped ones, that overlap: seen from above, their seams run
  // along each other for more than twice the tolerance, and cross there or are within twice the tolerance in
  // height at one end. Some are joined. Each pair occurs once, the lower number first. Empty if all edges may
  // be joined.
  std::vector<std::pair<PolygonNumber, PolygonNumber>> overlaps;
};

// Returns a mesh that NavMesh::Create accepts:
// - A vertex within the tolerance of earlier ones is merged into the nearest of them. The first vertex keeps
//   its position.
// - If a vertex lies on an edge without a neighbour, the edge is split there, so that overlapping edges are
//   joined. If `seams` is not empty and the heights of such edges agree along only a part of the overlap,
//   they get common vertices at the ends of that part, half way between them in height, and that part is
//   joined.
// - Loops run counterclockwise. Polygons without area are dropped, and edges of others next to them may be
//   joined. If `seams` is not empty, polygons are also dropped that the tolerance covers and that run in the
//   opposite direction to most: they lie on their neighbours.
// - All parts of a polygon have its finer ground, which keeps its place.
// - Polygons that are not convex, or have more than half of kMaxPolygonCorners corners, are triangulated.
// - If an edge has several polygons on a side, the first one of the spec is joined there. The others get a
//   wall, with their own vertex in the middle of that edge.
//
// Polygons and vertices keep their order; unused vertices are removed. The same soup gives the same mesh on
// every machine.
//
// Sets `report` if it is not null.
//
// Returns INVALID_ARGUMENT / BAD_SIZE without a field if one polygon, or all together, would have too many
// corners, or so many vertices lie on or near edges that it would take more than a few seconds; or the error
// of `stop`. The limits do not depend on the machine. Memory is proportional to the soup and the result; time
// is O(n log n) if few vertices are near each other.
absl::StatusOr<MeshSpec> WeldMesh(MeshSoup soup, const WeldTolerance& tolerance,
                                  const StopCheck* stop = nullptr, WeldReport* report = nullptr);

}  // namespace waystar::core
