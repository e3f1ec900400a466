// Adjacent walls of a mesh, where polygons were probably meant to be neighbours.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Distance between two walls: more than `low` and at most `high` seen from above, and at most `height`
// vertically.
struct MeshGap {
  double low = 0.0;
  double high = 0.0;
  double height = 0.0;
};

// Returns the number of walls with such a gap between their middle and a wall of another polygon in
// approximately the opposite direction: polygons that overlap or leave a slit between them. Walls of adjacent
// polygons do not count. Costs O(log walls) per wall if few others are near; counting stops early where it
// would take seconds. Returns the error of `stop`.
absl::StatusOr<std::int64_t> CountMeshGaps(const NavMesh& mesh, const MeshGap& gap,
                                           const StopCheck* stop = nullptr);

}  // namespace waystar::core
