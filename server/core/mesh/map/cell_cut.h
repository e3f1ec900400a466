// Cells of cut meshes.
#pragma once

#include "absl/types/span.h"
#include "server/core/mesh/map/cut_table.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Sets the cells of the table after its polygons have changed at these numbers. The mesh has the table.
//
// A cell with a cut polygon is replaced by pieces: what is left of its polygons, joined again (ConvexJoin).
// On its border the pieces have all corners of the polygons, so that those of two cells meet in whole edges.
// A cell beside it gets the corners that FindMeshCells dropped between the two.
//
// Returns false if a cell would have more pieces than it may have; the table must not be used then. Costs
// O(n log n) in the corners that are left in these cells.
bool CutCells(const NavMesh& mesh, absl::Span<const PolygonNumber> changed, CutTable& table);

}  // namespace waystar::core
