// Last step of mesh readers: joins a polygon soup to a mesh and notes defects.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Appends a vertex. Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, unless it
// satisfies CheckPosition.
absl::Status AddVertex(const WorldPoint& vertex, std::size_t line, std::vector<WorldPoint>& vertices);

// Applies `weld`, if set, to a tolerance: a distance in plan given by the owner of the file, which replaces
// `plan` after the precision of single-precision coordinates is added. It raises the tolerance in height only
// if it is larger.
WeldTolerance WithWeld(const WeldTolerance& tolerance, const MeshSpec& spec, std::optional<double> weld);

// Returns the mesh that WeldMesh makes of the soup. A non-null `notes` receives: dropped polygons, ignored
// costs if there are several areas, polygons that overlap at the same height, and edges next to each other
// that are not joined, up to 1/8 unit or 1/50 of the wider side apart.
//
// A non-null `report` receives that of WeldMesh; polygon numbers are those of the mesh.
//
// Returns INVALID_ARGUMENT / BAD_SIZE without a field if there are too many polygons or corners, or none with
// an area; or the error of `stop`.
// REQUIRES: the soup meets the requirements of WeldMesh.
absl::StatusOr<NavMesh> MeshOfSoup(MeshSoup soup, const WeldTolerance& tolerance, const StopCheck* stop,
                                   ImportNotes* notes, WeldReport* report = nullptr);

// Returns MeshOfSoup with a default tolerance, changed by WithWeld: in plan 1/10,000 of the wider side, at
// most 0.01 units, but at least the precision of single-precision coordinates; in height 25 times that.
absl::StatusOr<NavMesh> MeshOfFile(MeshSoup soup, std::optional<double> weld, const StopCheck* stop,
                                   ImportNotes* notes);

// Returns MeshOfFile for faces from a modelling program. Also notes if they look like level geometry: at
// least a tenth are steeper than 60 degrees, or face down while others face up.
absl::StatusOr<NavMesh> MeshOfFaces(MeshSoup soup, std::optional<double> weld, const StopCheck* stop,
                                    ImportNotes* notes);

}  // namespace waystar::core
