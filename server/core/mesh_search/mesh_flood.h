// Floods over navigation meshes: shortest paths from the nearest of some places to all polygons.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

// How far rounding may move the point of a polygon that is nearest to a seed, with some room.
inline constexpr double kFloodRounding = 4.0 / kFixedScale;

// The point of each polygon to which a flood finds the path.
enum class FloodAim : std::uint8_t {
  // The point that is nearest to a seed, along the mesh.
  kNearest,
  // The mean of the corners, as seen from above.
  kMiddle,
};

struct MeshFloodTask {
  // At least one, and no more than a few thousand.
  absl::Span<const MeshPlace> seeds;
  FloodAim aim = FloodAim::kNearest;
  // Points to which the path is longer are left out: exactly those with a greater MeshFloodPath::length.
  double max_length = std::numeric_limits<double>::infinity();
};

// A polygon with a shortest path between a point of it and the nearest seed.
struct MeshFloodPath {
  PolygonNumber polygon = kNoPolygon;
  // That of NavMesh::NearestPoint, so it is rounded; or the seed itself in a polygon that is around one.
  WorldPoint point = {};
  // Where the path first turns, coming from the point; the seed if it does not turn.
  WorldPoint next = {};
  double length = 0.0;

  friend bool operator==(const MeshFloodPath&, const MeshFloodPath&) = default;
};

struct MeshFloodReport {
  // kExhausted if the flood came to its end, or what ended it early: then there are no paths.
  SearchEnd end = SearchEnd::kExhausted;
  // In the order of the numbers of polygons.
  std::vector<MeshFloodPath> paths;
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

// Finds the paths by the intervals of SearchMesh, in the order of their distances from the seed as in
// Dijkstra's algorithm (compare Zhao, Taniar, Harabor, "Fast k-Nearest Neighbor on a Navigation Mesh", SoCS
// 2018). Lengths are those that SearchMesh finds between the point and the seed, beyond rounding.
//
// They are exact although each polygon is entered by many intervals: a shortest path to a point leads through
// a chain of intervals, the last of which lies on an edge of the point's polygon and is looked at when it is
// made. An interval is dropped only for a path that is known to be shorter to each of its points, or to its
// root, or that is as long and turns there to the same side; so a shortest path to any point beyond is found.
// Of equally long paths the one that was found first counts, which is the same on every machine.
//
// It takes time and memory for each interval within the length: a few for each polygon. The budget is asked
// before each expansion.
//
// REQUIRES: the seeds are places that NavMesh::FindNearest could return.
MeshFloodReport FloodMesh(const NavMesh& mesh, const MeshFloodTask& task, const Budget& budget,
                          MeshScratch& scratch);

// Returns the error of a flood that was stopped by its budget, as StatusOfEnd does; and RESOURCE_EXHAUSTED /
// REGION_TOO_LARGE if it would need more expansions or memory than it may have.
absl::Status StatusOfMeshFlood(SearchEnd end, std::uint64_t expanded);

}  // namespace waystar::core
