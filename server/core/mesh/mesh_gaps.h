// Walls of a mesh that lie beside each other, as where polygons were meant to be neighbours.
#pragma once

#include <cstdint>

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
// count. It costs O(log walls) for each wall where few others are near.
std::int64_t CountMeshGaps(const NavMesh& mesh, const MeshGap& gap);

}  // namespace waystar::core
