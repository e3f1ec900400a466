#include "tests/core/mesh/map/drawn_mesh.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace waystar {

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

core::MeshSpec BentFloors(Random& random, int floors, int least, int most) {
  core::MeshSpec spec;
  while (spec.polygons.empty()) {
    spec = {};
    for (int floor = 0; floor < floors; ++floor) {
      AddFloor(spec, random.Between(least, most), random.Between(least, most), 3.0 * floor, random);
    }
  }
  return spec;
}

void AddPeaks(core::MeshSpec& spec) {
  std::size_t first = 0;
  for (const core::MeshPolygon& polygon : spec.polygons) {
    std::vector<core::DetailPoint> points(1);
    std::vector<core::DetailTriangle> triangles;
    const auto count = static_cast<std::uint8_t>(polygon.corner_count);
    for (std::uint8_t k = 0; k < count; ++k) {
      const core::WorldPoint& corner = spec.vertices[spec.corners[first + k]];
      points.push_back(
          {static_cast<float>(corner.x), static_cast<float>(corner.y), static_cast<float>(corner.z)});
      points[0].x += points.back().x / static_cast<float>(count);
      points[0].y += points.back().y / static_cast<float>(count);
      points[0].z += (points.back().z + 1.0F) / static_cast<float>(count);
      triangles.push_back(
          {0, static_cast<std::uint8_t>(k + 1), static_cast<std::uint8_t>((k + 1) % count + 1)});
    }
    spec.detail.Add(points, triangles);
    first += count;
  }
}

core::WorldPoint MiddleOf(const core::NavMesh& mesh, core::PolygonNumber polygon) {
  core::WorldPoint middle;
  const auto loop = mesh.VerticesOf(polygon);
  const double share = 1.0 / static_cast<double>(loop.size());
  for (const std::uint32_t vertex : loop) {
    const core::WorldPoint& at = mesh.VertexAt(vertex);
    middle = {middle.x + share * at.x, middle.y + share * at.y, middle.z + share * at.z};
  }
  return middle;
}

double AreaOf(const core::NavMesh& mesh, core::PolygonNumber polygon) {
  const auto loop = mesh.VerticesOf(polygon);
  const core::WorldPoint& a = mesh.VertexAt(loop[0]);
  double twice = 0.0;
  for (std::size_t k = 2; k < loop.size(); ++k) {
    const core::WorldPoint& b = mesh.VertexAt(loop[k - 1]);
    const core::WorldPoint& c = mesh.VertexAt(loop[k]);
    twice += (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  }
  return twice / 2.0;
}

double AreaOf(const core::NavMesh& mesh) {
  double sum = 0.0;
  for (const core::PolygonNumber polygon : mesh.Polygons()) {
    sum += AreaOf(mesh, polygon);
  }
  return sum;
}

}  // namespace waystar
