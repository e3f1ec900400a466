// Reader of Wavefront OBJ (.obj) files whose faces are a navigation mesh: walkable ground only.
//
// Reads `v x y z` and `f a b c ...`. A corner is a vertex number counted from 1, or from the last vertex so
// far if negative; anything after a slash is ignored. A backslash continues a line. Names, groups, materials,
// normals and other statements are ignored, as is anything after the third coordinate.
//
// Faces may have up to kMaxWeldCorners corners, either winding, and may meet in the middle of each other's
// edges: WeldMesh joins them. All areas are 0.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Returns true if the statements up to the first vertex or face are those of OBJ; without vertices and faces,
// if some statement has a name of more than one letter. Costs O(bytes).
bool LooksLikeObjMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFaces makes of ParseObjFaces.
absl::StatusOr<NavMesh> ParseObjMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                     const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                     std::optional<double> weld = std::nullopt);

// Returns the unjoined vertices and faces, of a mesh or of any geometry, or INVALID_ARGUMENT / BAD_FORMAT
// without a field, naming the line. Memory is proportional to the bytes.
absl::StatusOr<MeshSoup> ParseObjFaces(absl::string_view bytes, MeshAxes axes,
                                       const StopCheck* stop = nullptr);

}  // namespace waystar::core
