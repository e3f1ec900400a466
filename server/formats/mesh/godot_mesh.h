// Reader of navigation meshes in Godot text files: resources (.tres) and scenes (.tscn), versions 3 and 4.
//
// Reads `vertices` and `polygons` of all resources of type NavigationMesh, with 3D vertices, and
// NavigationPolygon, with 2D vertices that stay as they are whatever the axes, at height 0:
//   vertices = PackedVector3Array(x, y, z, ...)
//   polygons = [PackedInt32Array(0, 1, 2), ...]
// Version 3 has PoolVector3Array and PoolIntArray instead. Everything else is skipped. The polygons of all
// resources form one mesh, even where they overlap: WeldMesh joins equal edges. All areas are 0.
//
// Nodes may transform the regions of a scene; this is not supported. A scene is rejected if a node that uses
// one of these resources, or an ancestor of it, is moved, rotated or scaled. Scenes and resources in other
// files, and binary files (.scn, .res), are not read.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

// Returns true if the bytes begin like a Godot text file, after comments.
bool LooksLikeGodotMesh(absl::string_view bytes);

// Returns the mesh that MeshOfFile makes, or INVALID_ARGUMENT / BAD_FORMAT without a field, naming the line
// or the moved node. Memory is proportional to the bytes.
absl::StatusOr<NavMesh> ParseGodotMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                       const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                       std::optional<double> weld = std::nullopt);

}  // namespace waystar::core
