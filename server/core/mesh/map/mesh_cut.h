// Cutting of areas out of a navigation mesh.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/map/shape_outlines.h"
#include "server/geometry/box.h"

namespace waystar::core {

// Areas to cut out of a mesh.
struct MeshHoles {
  std::vector<ConvexOutline> outlines;
  // Only polygons with a point at these heights are cut.
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

// Returns the mesh without the ground inside the outlines. A polygon that overlaps an outline is cut along
// the lines through the sides of the outline, and the pieces around it are kept. Edges between pieces and
// their neighbours are split at each other's ends, so that only the outlines become walls. A piece without
// area is omitted, and the pieces across its sides become adjacent. New corners are rounded to 2^-20. Corners
// within 2^-18 of a line count as on it, so that no strip of ground of that width remains between an outline
// and a wall; where lines meet at an acute angle, the dropped ground extends further from the corner. Corners
// on edges of the mesh have the height of the edge, others that of the surface. Unused vertices are removed.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE without a field if there are more pieces than a mesh may
// have, or the error of `stop`. Costs O(corners) to assemble the mesh and, per polygon, the sum over its
// outlines of their corners times the pieces.
absl::StatusOr<CutMesh> CutHoles(const NavMesh& mesh, const MeshHoles& holes,
                                 const StopCheck* stop = nullptr);

}  // namespace waystar::core
