// Random samples of the points of a navigation mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/polygons_around.h"
#include "server/core/shape/box.h"

namespace waystar::core {

inline constexpr std::size_t kMaxSampledPoints = 100'000;

struct MeshSampleQuery {
  // From 1 to kMaxSampledPoints.
  std::int64_t count = 1;
  // The same seed gives the same points of meshes with the same digest, on every machine.
  std::uint64_t seed = 0;
  // Restricts the sample to polygons in these connected parts, unless there are none.
  PartsAround parts;
  // Restricts the sample to points that lie in the box, seen from above.
  std::optional<Box> region;
};

struct SampledMeshPoints {
  // The places in random order, each unit of area seen from above with equal chance; empty if there is no
  // area to draw from.
  std::vector<MeshPlace> places;
  // How many polygons have such area, and how much they have together.
  std::int64_t candidates = 0;
  double area = 0.0;
};

// Draws points from the surface of the mesh. They are rounded to 2^-20, so those near an edge may lie half as
// far outside of their polygon, as with NavMesh::NearestPoint, if no point that lies inside is found.
//
// It costs O(corners) to measure the polygons, during which it asks `stop`, and O(log polygons) and the
// corners of one polygon for each point.
//
// Returns INVALID_ARGUMENT / BAD_VALUE or RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "count", and the error of
// `stop`.
absl::StatusOr<SampledMeshPoints> SampleMeshPoints(const NavMesh& mesh, const MeshSampleQuery& query,
                                                   const StopCheck* stop = nullptr);

}  // namespace waystar::core
