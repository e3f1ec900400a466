// Navigation meshes of Unity as JSON: what NavMesh.CalculateTriangulation returns.
//
// Unity has no file for it; scripts write the NavMeshTriangulation as an object:
//   {"vertices": [{"x": 0, "y": 0, "z": 0}, ...], "indices": [0, 1, 2, ...], "areas": [0, ...]}
// A vertex may also be a list [x, y, z], or all of them one list of numbers. `indices` has three vertices for
// each triangle, counted from 0, and `areas` a number from 0 to 63 for each, or nothing if all are 0. Other
// members are not read.
//
// Triangles come with vertices of their own, group by group, and end in the middle of each other's edges:
// they are joined by WeldMesh. The meshes of agents of other types in the same triangulation are joined too.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/mesh_axes.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Returns whether the bytes are an object of JSON with the members `vertices` and `indices`, both lists, and
// none that files of Tiled, LDtk, GeoJSON or glTF tell themselves by. Other members may have any name and
// hold anything. It costs O(bytes).
bool LooksLikeUnityMesh(absl::string_view bytes);

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the line, or BAD_SIZE if there are too many
// triangles or none. Returns the error of `stop`. It takes memory in proportion to the bytes.
// `notes` gets those of MeshOfSoup, if it is not null. `weld` is that of FileTolerance.
absl::StatusOr<NavMesh> ParseUnityMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                       const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                       std::optional<double> weld = std::nullopt);

}  // namespace waystar::core
