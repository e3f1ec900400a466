// Images of navigation meshes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/codec/map_image.h"
#include "tests/core/mesh/map/drawn_mesh.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAreArray;
using ::waystar::testing::AddFloor;
using ::waystar::testing::MeshOf;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

NavMesh RandomMesh(std::uint64_t seed) {
  Random random(seed);
  MeshSpec spec;
  AddFloor(spec, 6, 4, 0.0, random);
  AddFloor(spec, 3, 5, 8.0, random);
  for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
    spec.polygons[i].area = static_cast<std::uint8_t>(i % kMaxMeshAreas);
  }
  return MeshOf(std::move(spec));
}

TEST(MeshImageTest, KeepsTheWholeMesh) {
  for (std::uint64_t seed = 1; seed <= Rounds(20); ++seed) {
    const NavMesh mesh = RandomMesh(seed);
    const absl::StatusOr<AnyMap> read = DecodeImage(EncodeImage(mesh));
    ASSERT_TRUE(read.ok()) << read.status();
    const auto* const again = std::get_if<NavMesh>(&*read);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->digest(), mesh.digest());
    ASSERT_EQ(again->vertex_count(), mesh.vertex_count());
    ASSERT_EQ(again->polygon_count(), mesh.polygon_count());
    for (std::uint32_t vertex = 0; vertex < mesh.vertex_count(); ++vertex) {
      EXPECT_EQ(again->VertexAt(vertex), mesh.VertexAt(vertex));
    }
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      EXPECT_THAT(again->VerticesOf(polygon), ElementsAreArray(mesh.VerticesOf(polygon)));
      EXPECT_THAT(again->NeighboursOf(polygon), ElementsAreArray(mesh.NeighboursOf(polygon)));
      EXPECT_EQ(again->AreaOf(polygon), mesh.AreaOf(polygon));
    }
    EXPECT_EQ(EncodeImage(*again), EncodeImage(mesh));
  }
}

TEST(MeshImageTest, DigestsTellMeshesApart) {
  EXPECT_NE(RandomMesh(1).digest(), RandomMesh(2).digest());
  Random random(1);
  MeshSpec spec;
  AddFloor(spec, 2, 2, 0.0, random);
  const NavMesh mesh = MeshOf(spec);
  EXPECT_EQ(MeshOf(spec).digest(), mesh.digest());
  spec.polygons.front().area = 7;
  EXPECT_NE(MeshOf(spec).digest(), mesh.digest());
  spec.polygons.front().area = 0;
  spec.vertices.front().z += 1;
  EXPECT_NE(MeshOf(spec).digest(), mesh.digest());
}

TEST(MeshImageTest, RefusesDamagedImages) {
  const std::string image = EncodeImage(RandomMesh(3));
  for (std::size_t size = 0; size < image.size(); ++size) {
    EXPECT_EQ(ErrorReasonOf(DecodeImage(image.substr(0, size)).status()), "BAD_FORMAT") << size;
  }
  std::string damaged = image;
  damaged[damaged.size() / 2] ^= 0x10;
  EXPECT_EQ(ErrorReasonOf(DecodeImage(damaged).status()), "BAD_FORMAT");
}

}  // namespace
}  // namespace waystar::core
