// Wavefront OBJ (.obj) whose faces are a navigation mesh: ground that can be walked, and nothing else.
//
// Read are `v x y z` and `f a b c ...`, where a corner is the number of a vertex, counted from 1, or from the
// last one so far if it is negative, and what follows a slash is left out. Lines may go on after a backslash.
// Names, groups, materials, normals and all other statements are not read, nor is what follows the third
// coordinate.
//
// Faces may have any number of corners up to kMaxWeldCorners, may run either way, and may end in the middle
// of each other's edges: they are joined by WeldMesh. All areas are 0.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/mesh_axes.h"
#include "server/core/mesh/mesh_weld.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Returns whether the first statements are those of such a file, up to the first vertex or face; without any,
// whether there is a statement whose name has more than one letter. It costs O(bytes).
bool LooksLikeObjMesh(absl::string_view bytes);

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the line, or BAD_SIZE if there are too many
// faces or none. Returns the error of `stop`. It takes memory in proportion to the bytes.
// `notes`, if it is not null, gets those of MeshOfFaces. `weld` is that of FileTolerance.
absl::StatusOr<NavMesh> ParseObjMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                     const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                     std::optional<double> weld = std::nullopt);

// Returns the vertices and faces as the file has them, not joined: those of a mesh, or of any geometry. It
// returns the errors of ParseObjMesh, but no BAD_SIZE.
absl::StatusOr<MeshSoup> ParseObjFaces(absl::string_view bytes, MeshAxes axes,
                                       const StopCheck* stop = nullptr);

}  // namespace waystar::core
