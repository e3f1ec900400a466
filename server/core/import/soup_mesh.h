// The last step of readers of meshes.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/mesh/mesh_weld.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Returns within what to join files of triangles and polygons that say nothing about it: 1/10,000 of the
// wider side of the plan, but at most 0.01 units seen from above, or what coordinates in single precision may
// be off, and 25 times that in height.
WeldTolerance FileTolerance(const MeshSpec& spec);

// Notes what the mesh lacks if `notes` is not null: polygons that were dropped, and costs where there are
// several areas; and polygons that have others on them at the same height.
//
// `report`, if it is not null, gets that of WeldMesh: polygons have the same numbers in the mesh.
//
// Returns the mesh that WeldMesh makes of the soup, which must be one for it, or INVALID_ARGUMENT / BAD_SIZE
// without a field if there are too many polygons or corners, or none that has an area; or the error of
// `stop`.
absl::StatusOr<NavMesh> MeshOfSoup(MeshSoup soup, const WeldTolerance& tolerance, const StopCheck* stop,
                                   ImportNotes* notes, WeldReport* report = nullptr);

}  // namespace waystar::core
