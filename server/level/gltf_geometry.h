// glTF 2.0 that holds the geometry of a level: .glb, or a .gltf whose buffers are embedded as data URIs.
// https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
//
// Read are the triangles, strips and fans of the meshes that the nodes of the scene place: the default scene,
// else the first one, else all nodes. Each node that has a mesh adds a copy, moved as the node and those
// above it say. Points, lines, materials, skins and morph targets are not read: a mesh has the form that it
// has without them. Node names have no meaning.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/mesh_axes.h"
#include "server/level/level_geometry.h"

namespace waystar::level {

// Returns INVALID_ARGUMENT without a field: BAD_SIZE if there are too many vertices or triangles, or
// BAD_FORMAT for what is no glTF, names what is not there, lies outside of a buffer, needs other files, or is
// compressed or written as extensions of glTF say; or the error of `stop`. It takes memory in proportion to
// the bytes and to the geometry.
absl::StatusOr<LevelGeometry> ParseGltfGeometry(absl::string_view bytes, core::MeshAxes axes,
                                                const StopCheck* stop = nullptr);

}  // namespace waystar::level
