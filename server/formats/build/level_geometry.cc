#include "server/formats/build/level_geometry.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/parts/import_options.h"

namespace waystar::level {
namespace {

absl::StatusOr<core::MeshSoup> ParseFaces(core::MapFormat format, absl::string_view bytes,
                                          core::MeshAxes axes, const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckFileKind(format, bytes));
  switch (format) {
    case core::MapFormat::kObj:
      return core::ParseObjFaces(bytes, axes, stop);
    case core::MapFormat::kGltf:
      return core::ParseGltfFaces(bytes, axes, stop);
    default:
      return MakeError(ErrorReason::kBadValue, core::kBuildField,
                       "files of this format are not geometry to build a mesh of: OBJ and glTF are");
  }
}

// Returns true if the conversion of axes turns counterclockwise faces into clockwise ones.
constexpr bool MirrorsFaces(core::MeshAxes axes) { return axes != core::MeshAxes::kZUp; }

}  // namespace

absl::StatusOr<LevelGeometry> ParseLevel(core::MapFormat format, absl::string_view bytes, core::MeshAxes axes,
                                         const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(core::MeshSoup soup, ParseFaces(format, bytes, axes, stop));
  core::MeshSpec& spec = soup.spec;
  // A polygon of n corners becomes n - 2 triangles.
  const std::size_t triangles = spec.corners.size() - 2 * spec.polygons.size();
  if (spec.vertices.size() > kMaxLevelVertices || triangles > kMaxLevelTriangles) {
    return MakeError(ErrorReason::kBadSize, "",
                     absl::StrCat("the level has ", spec.vertices.size(), " vertices and ", triangles,
                                  " triangles, and at most ", kMaxLevelVertices, " and ", kMaxLevelTriangles,
                                  " are read"));
  }
  LevelGeometry geometry;
  geometry.vertices = std::move(spec.vertices);
  geometry.triangles.reserve(triangles);
  std::size_t first = 0;
  for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    for (std::size_t k = 2; k < spec.polygons[i].corner_count; ++k) {
      std::array<std::uint32_t, 3> triangle = {spec.corners[first], spec.corners[first + k - 1],
                                               spec.corners[first + k]};
      if (MirrorsFaces(axes)) {
        std::swap(triangle[1], triangle[2]);
      }
      geometry.triangles.push_back(triangle);
    }
    first += spec.polygons[i].corner_count;
  }
  return geometry;
}

}  // namespace waystar::level
