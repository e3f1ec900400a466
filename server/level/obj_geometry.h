// Wavefront OBJ (.obj) that holds the geometry of a level. What of a file is read, obj_mesh.h says.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/mesh_axes.h"
#include "server/level/level_geometry.h"

namespace waystar::level {

// Cuts faces of more than three corners into fans of triangles from the first corner, as they are convex. In
// the file, the corners of a face run counterclockwise for those who look at its front. Returns the errors of
// core::ParseObjFaces, and INVALID_ARGUMENT / BAD_SIZE without a field if there are too many vertices or
// triangles.
absl::StatusOr<LevelGeometry> ParseObjGeometry(absl::string_view bytes, core::MeshAxes axes,
                                               const StopCheck* stop = nullptr);

}  // namespace waystar::level
