// Course of a path over a navigation mesh in space.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Returns the corners of a path and, between them, the points where it crosses an edge from one polygon of
// its corridor to the next, with their heights. Consecutive points differ. Costs O(corners of the polygons of
// the corridor).
// REQUIRES: corners and corridor are those of a MeshSearchReport on this mesh.
std::vector<WorldPoint> SurfaceLine(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                    absl::Span<const PolygonNumber> corridor);

// Returns the distance between two points, seen from above.
double DistanceInPlan(const WorldPoint& a, const WorldPoint& b);

// Returns the sum of the distances in space between consecutive points.
double LengthInSpace(absl::Span<const WorldPoint> points);

}  // namespace waystar::core
