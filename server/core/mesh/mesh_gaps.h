// Walls of a mesh that lie beside each other, as where polygons were meant to be neighbours.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// How far apart the two walls are: further than `low` and up to `high` seen from above, and up to `height` up
// or down.
struct MeshGap {
  double low = 0.0;
  double high = 0.0;
  double height = 0.0;
};

// Returns how many walls have such a gap between their middle and a wall of another polygon that runs about
// the other way: polygons that overlap, or leave a slit between them. Those of polygons that adjoin do not
// count. It costs O(log walls) for each wall where few others are near, and counts no further where so many
// are that it would take seconds. Returns the error of `stop`.
absl::StatusOr<std::int64_t> CountMeshGaps(const NavMesh& mesh, const MeshGap& gap,
                                           const StopCheck* stop = nullptr);

}  // namespace waystar::core
