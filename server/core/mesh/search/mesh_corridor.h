// Polygons that a path passes, and its course over them in space.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Sets `corridor` to polygons that a path with these corners passes in order, each adjacent to the next along
// an edge that the path touches. The first is one of the start's polygons, the last one of the goal's: see
// FindPolygonsAround. Decided in integers. Returns false if there is no such corridor, as may happen if
// polygons are dented. Costs O(corners of the polygons that the path touches).
// REQUIRES: there is a corner; consecutive corners differ in the plan; coordinates are
// multiples of 2^-20.
bool FindCorridor(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                  absl::Span<const PolygonNumber> start_polygons,
                  absl::Span<const PolygonNumber> goal_polygons, std::vector<PolygonNumber>& corridor);

// Returns the corners of a path and, between them, the points where it crosses an edge from one polygon of
// its corridor to the next and those where finer ground bends, with their heights. Consecutive points differ.
// Costs O(corners and detail triangles of the polygons of the corridor).
// REQUIRES: corners and corridor are those of a MeshSearchReport on this mesh.
//
// If `places` is not null, it gets for each point its place in corners and corridor.
struct SurfacePlace {
  // Index of the polygon over which the line leads to the point.
  std::size_t polygon = 0;
  // Index of the last corner at or before the point.
  std::size_t corner = 0;
};
std::vector<WorldPoint> SurfaceLine(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                    absl::Span<const PolygonNumber> corridor,
                                    std::vector<SurfacePlace>* places = nullptr);

// Returns what a straight walk from one place to another costs: its length seen from above, times the cost of
// the ground where that is not 1. Along an edge the cheaper side counts. Starts and goals are the same point
// in fans of polygons, and there is a walk from one of them to one of these (CastMeshRay). If dents hide its
// polygons, all ground counts as the cheapest. On a mesh with costs it takes the time of FindCorridor.
double CostOfWalk(const NavMesh& mesh, absl::Span<const MeshPlace> starts, absl::Span<const MeshPlace> goals);

// Returns the sum of the distances in space between consecutive points.
double LengthInSpace(absl::Span<const WorldPoint> points);

}  // namespace waystar::core
