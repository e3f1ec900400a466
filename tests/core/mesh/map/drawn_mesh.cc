#include "tests/core/mesh/map/drawn_mesh.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace waystar::testing {

core::NavMesh MeshOf(core::MeshSpec spec) {
  absl::StatusOr<core::NavMesh> mesh = core::NavMesh::Create(std::move(spec));
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  return *std::move(mesh);
}

void AddFloor(core::MeshSpec& spec, int columns, int rows, double height, Random& random) {
  const auto first = static_cast<std::uint32_t>(spec.vertices.size());
  for (int y = 0; y <= rows; ++y) {
    for (int x = 0; x <= columns; ++x) {
      // So little that no square gets a corner of 180 degrees.
      spec.vertices.push_back({x + random.Between(-24, 24) / 100.0, y + random.Between(-24, 24) / 100.0,
                               height + random.Between(0, 100) / 100.0});
    }
  }
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const std::uint32_t a = first + static_cast<std::uint32_t>(y * (columns + 1) + x);
      const std::uint32_t b = a + 1;
      const std::uint32_t d = a + static_cast<std::uint32_t>(columns + 1);
      const std::uint32_t c = d + 1;
      const auto area = static_cast<std::uint8_t>(random.Between(0, 3));
      switch (random.Between(0, 5)) {
        case 0:
          break;
        case 1:
          spec.AddPolygon({a, b, c}, area);
          spec.AddPolygon({c, d, a}, area);
          break;
        case 2:
          spec.AddPolygon({d, a, b}, area);
          spec.AddPolygon({b, c, d}, area);
          break;
        default:
          spec.AddPolygon({a, b, c, d}, area);
          break;
      }
    }
  }
}

}  // namespace waystar::testing
