// The last step of readers of meshes.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/mesh/mesh_weld.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Returns within what to join files of triangles and polygons that say nothing about it: 1/10,000 of the
// wider side of the plan, but at most 0.01 units seen from above, or what coordinates in single precision may
// be off, and 25 times that in height. `weld` is the distance seen from above that the file's owner gives
// instead, to which that of single precision is added: it changes the height only if it is more.
WeldTolerance FileTolerance(const MeshSpec& spec, std::optional<double> weld = std::nullopt);

// Returns the tolerance with the distance that the file's owner gives, if there is one, as FileTolerance
// does.
WeldTolerance WithWeld(const WeldTolerance& tolerance, const MeshSpec& spec, std::optional<double> weld);

// Notes what the mesh lacks if `notes` is not null: polygons that were dropped, costs where there are several
// areas, polygons that have others on them at the same height, and edges that lie beside others and are not
// joined, up to 1/8 unit away, or 1/50 of the wider side.
//
// `report`, if it is not null, gets that of WeldMesh: polygons have the same numbers in the mesh.
//
// Returns the mesh that WeldMesh makes of the soup, which must be one for it, or INVALID_ARGUMENT / BAD_SIZE
// without a field if there are too many polygons or corners, or none that has an area; or the error of
// `stop`.
absl::StatusOr<NavMesh> MeshOfSoup(MeshSoup soup, const WeldTolerance& tolerance, const StopCheck* stop,
                                   ImportNotes* notes, WeldReport* report = nullptr);

// As MeshOfSoup within FileTolerance, of faces that a program for models wrote. Notes as well if they look
// like the geometry of a level: a tenth of them or more are steeper than 60 degrees, or face down where
// others face up.
absl::StatusOr<NavMesh> MeshOfFaces(MeshSoup soup, std::optional<double> weld, const StopCheck* stop,
                                    ImportNotes* notes);

}  // namespace waystar::core
