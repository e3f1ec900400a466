// Reader of level geometry files.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/parts/mesh_axes.h"
#include "server/formats/text/map_format.h"

namespace waystar::level {

// Reads OBJ or glTF. Faces of more than three corners are taken as convex and split into fans of triangles
// from the first corner. Faces in the file are counterclockwise seen from the front.
//
// Returns the errors of core::CheckFileKind, core::ParseObjFaces and core::ParseGltfFaces, and
// INVALID_ARGUMENT / BAD_VALUE with field core::kBuildField for other formats, or BAD_SIZE without a field if
// there are too many vertices or triangles.
absl::StatusOr<LevelGeometry> ParseLevel(core::MapFormat format, absl::string_view bytes, core::MeshAxes axes,
                                         const StopCheck* stop = nullptr);

}  // namespace waystar::level
