// Bytes as the geometry of a level in glTF: refused with a reason, or read as triangles of vertices that are
// there.

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/core/graph/waypoint.h"
#include "server/core/import/mesh_axes.h"
#include "server/level/gltf_geometry.h"
#include "tests/fuzz/foreign_mesh_check.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto geometry = level::ParseGltfGeometry(bytes, core::MeshAxes::kYUp);
  if (!geometry.ok()) {
    fuzz::RequireReason(geometry.status());
    return 0;
  }
  for (const core::WorldPoint& vertex : geometry->vertices) {
    fuzz::Require(core::CheckPosition(vertex).ok(), "vertices are positions");
  }
  for (const std::array<std::uint32_t, 3>& triangle : geometry->triangles) {
    for (const std::uint32_t vertex : triangle) {
      fuzz::Require(vertex < geometry->vertices.size(), "corners are vertices");
    }
  }
  return 0;
}
