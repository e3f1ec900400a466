// Floods over navigation meshes: shortest paths from the nearest of several places to all polygons.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Maximum displacement by rounding of the point of a polygon nearest to a seed, with some tolerance.
inline constexpr double kFloodRounding = 4.0 / kFixedScale;

// The point of each polygon to which a flood finds a path.
enum class FloodAim : std::uint8_t {
  // The point nearest to a seed, along the mesh.
  kNearest,
  // The mean of the corners, seen from above.
  kMiddle,
};

struct MeshFloodTask {
  // At least one, and at most a few thousand.
  absl::Span<const MeshPlace> seeds;
  FloodAim aim = FloodAim::kNearest;
  // Polygons with a greater MeshFloodPath::length are omitted; the limit is exact.
  double max_length = std::numeric_limits<double>::infinity();
};

// A polygon with a shortest path between a point of it and the nearest seed.
struct MeshFloodPath {
  PolygonNumber polygon = kNoPolygon;
  // Rounded, as returned by NavMesh::NearestPoint; in a polygon around a seed, the seed itself.
  WorldPoint point = {};
  // First turning point of the path from `point`; the seed if it does not turn.
  WorldPoint next = {};
  double length = 0.0;

  friend bool operator==(const MeshFloodPath&, const MeshFloodPath&) = default;
};

struct MeshFloodReport {
  // kExhausted if the flood completed. Otherwise the reason for an early end, and there are no paths.
  SearchEnd end = SearchEnd::kExhausted;
  // In the order of polygon numbers.
  std::vector<MeshFloodPath> paths;
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

// Finds the paths by the intervals of SearchMesh, in the order of their distances from the seed as in
// Dijkstra's algorithm (compare Zhao, Taniar, Harabor, "Fast k-Nearest Neighbor on a Navigation Mesh", SoCS
// 2018). Lengths equal those of SearchMesh between the point and the seed, up to rounding.
//
// Paths are exact although each polygon is entered by many intervals. A shortest path to a point leads
// through a chain of intervals, the last of which lies on an edge of the point's polygon and is evaluated
// when it is created. An interval is only dropped if a path is known that is shorter to each of its points or
// to its root, or that is as long and turns there to the same side. A shortest path to every point beyond is
// therefore found. Among paths of equal length the first found counts, which is the same on every machine.
//
// Time and memory are proportional to the intervals within the length, a few per polygon. The budget is
// checked before each expansion.
//
// REQUIRES: the seeds are places that NavMesh::FindNearest could return.
MeshFloodReport FloodMesh(const NavMesh& mesh, const MeshFloodTask& task, const Budget& budget,
                          MeshScratch& scratch);

// Returns the error of a flood that its budget stopped, as StatusOfEnd does; or RESOURCE_EXHAUSTED /
// REGION_TOO_LARGE if it needs more expansions or memory than allowed.
absl::Status StatusOfMeshFlood(SearchEnd end, std::uint64_t expanded);

}  // namespace waystar::core
