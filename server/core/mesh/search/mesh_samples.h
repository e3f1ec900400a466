// Random samples of the points of a navigation mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/geometry/box.h"

namespace waystar::core {

inline constexpr std::size_t kMaxSampledPoints = 100'000;

struct MeshSampleQuery {
  // From 1 to kMaxSampledPoints.
  std::int64_t count = 1;
  // The same seed gives the same points on every machine for meshes with the same digest.
  std::uint64_t seed = 0;
  // If not empty, only polygons in these connected parts are drawn from.
  PartsAround parts;
  // If set, only points in the box, seen from above, are drawn.
  std::optional<Box> region;
};

struct SampledMeshPoints {
  // Places in random order, distributed uniformly by area seen from above; empty if there is no area to draw
  // from.
  std::vector<MeshPlace> places;
  // Number of polygons with such area, and their total area.
  std::int64_t candidates = 0;
  double area = 0.0;
};

// Draws points from the surface of the mesh. They are rounded to 2^-20; a point near an edge may lie outside
// its polygon by half of that, as with NavMesh::NearestPoint, if no point inside is found.
//
// Costs O(corners) to measure the polygons, during which it checks `stop`, and O(log polygons) plus the
// corners of one polygon per point.
//
// Returns INVALID_ARGUMENT / BAD_VALUE or RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "count", or the error of
// `stop`.
absl::StatusOr<SampledMeshPoints> SampleMeshPoints(const NavMesh& mesh, const MeshSampleQuery& query,
                                                   const StopCheck* stop = nullptr);

}  // namespace waystar::core
