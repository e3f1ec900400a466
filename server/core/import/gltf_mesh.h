// glTF 2.0: .glb, or a .gltf whose buffers are embedded as data URIs. Its faces are a navigation mesh, ground
// that can be walked and nothing else, or the geometry of a level.
// https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
//
// Read are the triangles, strips and fans of the meshes that the nodes of the scene place: the default scene,
// else the first one, else all nodes. Each node that has a mesh adds a copy, moved as the node and those
// above it say. Points, lines, materials, skins and morph targets are not read: a mesh has the form that it
// has without them. Node names have no meaning.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/mesh_axes.h"
#include "server/core/mesh/mesh_weld.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Copies count each.
inline constexpr std::size_t kMaxGltfVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxGltfTriangles = std::size_t{1} << 22;

// Returns the mesh whose ground are all faces, joined as those of ParseObjMesh are. Returns the errors of
// ParseGltfFaces, or BAD_SIZE without a field if there are too many faces for a mesh, or none. `notes` gets
// what ParseObjMesh notes.
absl::StatusOr<NavMesh> ParseGltfMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                      const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                      std::optional<double> weld = std::nullopt);

// Returns the vertices and triangles as the file has them, not joined. The corners of a triangle run as in
// the file, or the other way round in a node that mirrors it.
//
// Returns INVALID_ARGUMENT without a field: BAD_SIZE if there are too many vertices or triangles, or
// BAD_FORMAT for what is no glTF, names what is not there, lies outside of a buffer, needs other files, or is
// compressed or written as extensions of glTF say; or the error of `stop`. It takes memory in proportion to
// the bytes and to the triangles.
absl::StatusOr<MeshSoup> ParseGltfFaces(absl::string_view bytes, MeshAxes axes,
                                        const StopCheck* stop = nullptr);

}  // namespace waystar::core
