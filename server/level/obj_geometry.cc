#include "server/level/obj_geometry.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "server/base/status_macros.h"
#include "server/core/import/obj_mesh.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh/mesh_weld.h"
#include "server/level/geometry_limits.h"

namespace waystar::level {

absl::StatusOr<LevelGeometry> ParseObjGeometry(absl::string_view bytes, core::MeshAxes axes,
                                               const StopCheck* stop) {
  WAYSTAR_ASSIGN_OR_RETURN(core::MeshSoup soup, core::ParseObjFaces(bytes, axes, stop));
  core::MeshSpec& spec = soup.spec;
  // Each polygon has two corners more than triangles.
  WAYSTAR_RETURN_IF_ERROR(CheckSize(spec.vertices.size(), spec.corners.size() - 2 * spec.polygons.size()));
  LevelGeometry geometry;
  geometry.vertices = std::move(spec.vertices);
  geometry.triangles.reserve(spec.corners.size() - 2 * spec.polygons.size());
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
