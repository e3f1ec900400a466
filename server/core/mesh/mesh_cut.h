// Cutting areas out of a navigation mesh.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh/shape_outlines.h"
#include "server/core/shape/height_range.h"

namespace waystar::core {

// What is cut out of a mesh.
struct MeshHoles {
  std::vector<ConvexOutline> outlines;
  // Only polygons that have a point at these heights are cut.
  HeightRange heights;
};

struct CutMesh {
  NavMesh mesh;
  // For each polygon, the number of the polygon of the uncut mesh that it is a part of, in ascending order.
  std::vector<PolygonNumber> sources;

  std::size_t memory_bytes() const {
    return mesh.memory_bytes() + sources.capacity() * sizeof(PolygonNumber);
  }
};

// Returns the mesh without the ground inside the outlines. A polygon that an outline reaches into is cut
// along the lines through the sides of the outline, and the pieces around it are kept. Edges where pieces and
// their neighbours meet are split at each other's ends, so that nothing but the outlines becomes a wall. A
// piece without area is left out, and what lies across its sides adjoins. New corners are rounded to 2^-20,
// and corners within 2^-18 of a line count as on it, so that no ground of that width is left between an
// outline and a wall. Where lines meet at an acute angle, that is ground that reaches further from the
// corner. Corners on edges of the mesh have the height of the edge, and others that of the surface. Vertices
// that no polygon has any more are left out.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE without a field if the pieces are more than a mesh may have,
// or the error of `stop`. It takes O(corners) to put the mesh together, and for each polygon the sum over its
// outlines of their corners times the pieces.
absl::StatusOr<CutMesh> CutHoles(const NavMesh& mesh, const MeshHoles& holes,
                                 const StopCheck* stop = nullptr);

}  // namespace waystar::core
