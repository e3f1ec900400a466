// Reader of glTF 2.0: .glb, or .gltf with its buffers embedded as data URIs. The faces are a navigation mesh,
// that is walkable ground only, or the geometry of a level.
// https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
//
// Reads the triangles, strips and fans of the meshes in the scene: the default scene, else the first one,
// else all nodes. Each node with a mesh adds a copy, transformed by the node and its ancestors. Points,
// lines, materials, skins and morph targets are not read: a mesh has its undeformed shape. Node names have no
// meaning.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Limits that count every copy.
inline constexpr std::size_t kMaxGltfVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxGltfTriangles = std::size_t{1} << 22;

// Returns the mesh that MeshOfFaces makes of ParseGltfFaces.
absl::StatusOr<NavMesh> ParseGltfMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                      const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                      std::optional<double> weld = std::nullopt);

// Returns the unjoined vertices and triangles. Triangles keep the winding of the file, reversed in a node
// that mirrors them.
//
// Returns INVALID_ARGUMENT without a field: BAD_SIZE if there are too many vertices or triangles, or
// BAD_FORMAT if the file is not glTF, has a bad reference or an out-of-range access, needs other files, or
// uses compression or a required extension; or the error of `stop`. Memory is proportional to the bytes and
// the triangles.
absl::StatusOr<MeshSoup> ParseGltfFaces(absl::string_view bytes, MeshAxes axes,
                                        const StopCheck* stop = nullptr);

}  // namespace waystar::core
