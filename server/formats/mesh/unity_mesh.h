// Reader of navigation meshes of Unity as JSON: the result of NavMesh.CalculateTriangulation.
//
// Unity has no file format for it; scripts write the NavMeshTriangulation as an object:
//   {"vertices": [{"x": 0, "y": 0, "z": 0}, ...], "indices": [0, 1, 2, ...], "areas": [0, ...]}
// A vertex may also be a list [x, y, z], or all vertices one list of numbers. `indices` has three vertices
// per triangle, counted from 0. `areas` has a number from 0 to 63 per triangle, or may be missing if all are
// 0. Other members are ignored.
//
// Triangles have their own vertices, group by group, and meet in the middle of each other's edges: WeldMesh
// joins them. Meshes of different agent types in one triangulation are joined too.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Returns true if the bytes are a JSON object with the list members `vertices` and `indices`, and no member
// that identifies a Tiled, LDtk, GeoJSON or glTF file. Costs O(bytes).
bool LooksLikeUnityMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFile makes, or INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line.
// Memory is proportional to the bytes.
absl::StatusOr<NavMesh> ParseUnityMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                       const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                       std::optional<double> weld = std::nullopt);

}  // namespace waystar::core
