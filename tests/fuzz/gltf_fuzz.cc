// Bytes as glTF: refused with a reason, or read as triangles of vertices that are there.

#include <cstdint>

#include "server/core/elements/waypoint.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/parts/import_options.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  const auto soup = core::ParseGltfFaces(fuzz::BytesOf(data, size), core::MeshAxes::kYUp);
  if (!soup.ok()) {
    fuzz::RequireReason(soup.status());
    fuzz::Require(ErrorFieldOf(soup.status()).empty(), soup.status().ToString());
    return 0;
  }
  for (const core::WorldPoint& vertex : soup->spec.vertices) {
    fuzz::Require(core::CheckPosition(vertex).ok(), "vertices are positions");
  }
  for (const std::uint32_t vertex : soup->spec.corners) {
    fuzz::Require(vertex < soup->spec.vertices.size(), "corners are vertices");
  }
  return 0;
}
