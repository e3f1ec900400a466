// The polygons around a place: all of a fan, whatever its size, and what searches that begin or end there
// make of them.

#include "server/core/mesh_search/polygons_around.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "tests/core/mesh/drawn_mesh.h"
#include "tests/core/mesh_search/sight_graph.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;
using ::waystar::testing::AddFloor;
using ::waystar::testing::DrawRooms;
using ::waystar::testing::MeshOf;
using ::waystar::testing::Random;
using ::waystar::testing::RandomRooms;
using ::waystar::testing::Rounds;

constexpr double kRim = 1000.0;

std::vector<PolygonNumber> Around(const NavMesh& mesh, const MeshPlace& place) {
  std::vector<PolygonNumber> polygons;
  FindPolygonsAround(mesh, place, polygons);
  return polygons;
}

bool Adjoin(const NavMesh& mesh, PolygonNumber a, PolygonNumber b) {
  const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(a);
  return std::find(neighbours.begin(), neighbours.end(), b) != neighbours.end();
}

// Triangles all round a vertex at (0, 0), counterclockwise from the direction of x, and as many
// quadrilaterals around them. Vertex 0 is in the middle, then come those of the rim and those beyond it.
NavMesh Wheel(std::uint32_t count) {
  MeshSpec spec;
  spec.vertices.push_back({0, 0, 0});
  for (const double radius : {kRim, 2 * kRim}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const double angle = 2 * std::numbers::pi * i / count;
      spec.vertices.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    }
  }
  const auto rim = [&](std::uint32_t i) { return 1 + i % count; };
  for (std::uint32_t i = 0; i < count; ++i) {
    spec.AddPolygon({0, rim(i), rim(i + 1)});
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    spec.AddPolygon({rim(i), rim(i) + count, rim(i + 1) + count, rim(i + 1)});
  }
  return MeshOf(std::move(spec));
}

void ExpectFans(const NavMesh& mesh) {
  std::vector<std::vector<PolygonNumber>> fans(mesh.vertex_count());
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    for (const std::uint32_t vertex : mesh.VerticesOf(polygon)) {
      fans[vertex].push_back(polygon);
    }
  }
  for (std::uint32_t vertex = 0; vertex < mesh.vertex_count(); ++vertex) {
    for (const PolygonNumber polygon : fans[vertex]) {
      const std::vector<PolygonNumber> around = Around(mesh, {polygon, mesh.VertexAt(vertex)});
      EXPECT_THAT(around, UnorderedElementsAreArray(fans[vertex]));
      EXPECT_EQ(around.front(), polygon);
      for (std::size_t i = 1; i < around.size(); ++i) {
        EXPECT_TRUE(std::any_of(around.begin(), around.begin() + static_cast<std::ptrdiff_t>(i),
                                [&](PolygonNumber before) { return Adjoin(mesh, before, around[i]); }));
      }
    }
  }
}

TEST(PolygonsAroundTest, AreThoseThatEdgesAtAVertexJoin) {
  Random random(3);
  for (std::uint64_t round = 0; round < Rounds(100); ++round) {
    ExpectFans(MeshOf(DrawRooms(RandomRooms(random), &random)));
    MeshSpec floor;
    AddFloor(floor, random.Between(1, 6), random.Between(1, 6), 0.0, random);
    if (!floor.polygons.empty()) {
      ExpectFans(MeshOf(floor));
    }
  }
}

TEST(PolygonsAroundTest, OnesFarFromThePlaceComeLast) {
  EXPECT_THAT(Around(Wheel(8), {2, {0, 0, 0}}), ElementsAre(2, 1, 3, 0, 4, 7, 5, 6));
  EXPECT_THAT(Around(Wheel(8), {2, {1, 2, 0}}), ElementsAre(2));
}

}  // namespace
}  // namespace waystar::core
