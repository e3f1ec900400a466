#include "server/level/import_level.h"

#include "server/base/error.h"
#include "server/core/import/import_options.h"
#include "server/level/gltf_geometry.h"
#include "server/level/obj_geometry.h"

namespace waystar::level {

absl::StatusOr<LevelGeometry> ParseLevel(core::MapFormat format, absl::string_view bytes, core::MeshAxes axes,
                                         const StopCheck* stop) {
  switch (format) {
    case core::MapFormat::kObj:
      return ParseObjGeometry(bytes, axes, stop);
    case core::MapFormat::kGltf:
      return ParseGltfGeometry(bytes, axes, stop);
    default:
      return MakeError(ErrorReason::kBadValue, core::kBuildField,
                       "files of this format are no geometry to build a mesh of: OBJ and glTF are");
  }
}

}  // namespace waystar::level
