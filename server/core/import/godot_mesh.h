// Navigation meshes of Godot in its text files: resources (.tres) and scenes (.tscn) of versions 3 and 4.
//
// Read are the `vertices` and `polygons` of all resources of type NavigationMesh, whose vertices are in
// space, and NavigationPolygon, whose vertices are in the plan and whatever the axes stay as they are, at
// height 0:
//   vertices = PackedVector3Array(x, y, z, ...)
//   polygons = [PackedInt32Array(0, 1, 2), ...]
// Version 3 has PoolVector3Array and PoolIntArray instead. Everything else is passed over. The polygons of
// all resources of a file make one mesh, also where they overlap: WeldMesh joins what has the same edge. All
// areas are 0.
//
// Nodes may move the regions of a scene, which is not followed: a scene in which a node that uses one of
// these resources, or a node above it, is moved, turned or scaled is refused. Scenes and resources in other
// files, and binary files (.scn, .res), are not read.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/mesh_axes.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Returns whether the bytes begin as a text file of Godot does, comments left aside.
bool LooksLikeGodotMesh(absl::string_view bytes);

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the line, or the node that is moved, or
// BAD_SIZE if there are too many polygons or none. Returns the error of `stop`. It takes memory in proportion
// to the bytes. `notes` gets those of MeshOfSoup, if it is not null.
absl::StatusOr<NavMesh> ParseGodotMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                       const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                       std::optional<double> weld = std::nullopt);

}  // namespace waystar::core
