// Last step of mesh readers: joins a polygon soup to a mesh and notes defects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Appends a vertex. Returns INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line, unless it
// satisfies CheckPosition.
absl::Status AddVertex(const WorldPoint& vertex, std::size_t line, std::vector<WorldPoint>& vertices);

// Applies `weld`, if set, to a tolerance: a distance in plan given by the owner of the file, which replaces
// `plan` after the precision of single-precision coordinates is added. It raises the tolerance in height only
// if it is larger.
WeldTolerance WithWeld(const WeldTolerance& tolerance, const MeshSpec& spec, std::optional<double> weld);

// Returns tags for the set bits, such as "flag-0" for the lowest bit if `first` is 0: the lowest kMaxTags of
// them.
std::vector<std::string> BitTags(absl::string_view prefix, int first, std::uint32_t bits);

// Sets the areas and terrains of `spec`, whose polygons come from these of `faces`. Kinds keep their number
// if no earlier one has it; the others get the lowest free ones, in the order of `kinds`. If none are left,
// their polygons get the number in the file or 0, which a note counts. In names, bytes that are not printable
// ASCII become '-', and a number follows if the name is taken. Does nothing if all polygons are of one kind
// that has nothing but a name.
void SetTerrains(const FileFaces& faces, absl::Span<const PolygonNumber> origins, ImportNotes* notes,
                 MeshSpec& spec);

// Applies the terrains of the options. Returns INVALID_ARGUMENT / BAD_TERRAIN with a field such as
// "import_options.mesh_terrains[0].name".
absl::Status OverrideTerrains(const ImportOptions& options, MeshSpec& spec);

// Returns the mesh of `spec` after OverrideTerrains. Errors of CreateMesh have no field.
absl::StatusOr<NavMesh> MeshOfSpec(MeshSpec spec, const ImportOptions& options);

// Returns the mesh that WeldMesh makes of the soup. Notes dropped polygons, polygons that overlap at the same
// height, and edges next to each other that are not joined, up to 1/8 unit or 1/50 of the wider side apart.
//
// A non-null `report` receives that of WeldMesh; polygon numbers are those of the mesh.
//
// Returns the errors of MeshOfSpec; INVALID_ARGUMENT / BAD_SIZE without a field if there are too many
// polygons or corners, or none with an area; or the error of the options' stop.
// REQUIRES: the soup meets the requirements of WeldMesh.
absl::StatusOr<NavMesh> MeshOfSoup(FileFaces faces, const WeldTolerance& tolerance,
                                   const ImportOptions& options, WeldReport* report = nullptr);

// Returns MeshOfSoup with a default tolerance, changed by WithWeld: in plan 1/10,000 of the wider side, at
// most 0.01 units, but at least the precision of single-precision coordinates; in height 25 times that.
absl::StatusOr<NavMesh> MeshOfFile(FileFaces faces, const ImportOptions& options);

// Returns MeshOfFile for faces from a modelling program. Also notes if they look like level geometry: at
// least a tenth are steeper than 60 degrees, or face down while others face up.
absl::StatusOr<NavMesh> MeshOfFaces(FileFaces faces, const ImportOptions& options);

}  // namespace waystar::core
