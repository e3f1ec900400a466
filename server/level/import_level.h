// Navigation meshes from files with the geometry of levels.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/format/map_format.h"
#include "server/core/import/mesh_axes.h"
#include "server/level/level_geometry.h"

namespace waystar::level {

// Reads OBJ or glTF. Returns INVALID_ARGUMENT / BAD_VALUE with field core::kBuildField for other formats, and
// the errors of ParseObjGeometry and ParseGltfGeometry.
absl::StatusOr<LevelGeometry> ParseLevel(core::MapFormat format, absl::string_view bytes, core::MeshAxes axes,
                                         const StopCheck* stop = nullptr);

}  // namespace waystar::level
