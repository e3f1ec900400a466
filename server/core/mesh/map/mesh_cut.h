// Cutting of holes out of a navigation mesh.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
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

// Returns the mesh without the ground inside the outlines. It shares everything else with the mesh. A polygon
// that overlaps an outline is replaced by pieces (FaceCut), which depend on the polygon, the outlines that
// touch it, and those that touch its edges from the other side. The order of the outlines does not matter.
//
// New corners are rounded to 2^-20. Corners within 2^-18 of a line count as on it, so that no strip of ground
// of that width remains between an outline and a wall. Corners on edges of the mesh have the height of the
// edge, others that of the surface.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE without a field if a polygon is cut into more pieces than it
// may have, or the error of `stop`. Costs O(log polygons) per outline, and for each polygon that it touches
// the corners of the outlines there, times their crossings. Where an outline separates ground from other
// ground, it costs O(polygons) to find the connected parts.
// REQUIRES: the mesh is not cut.
absl::StatusOr<NavMesh> CutHoles(const NavMesh& mesh, const MeshHoles& holes,
                                 const StopCheck* stop = nullptr);

}  // namespace waystar::core
