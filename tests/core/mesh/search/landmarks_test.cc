#include "server/core/mesh/search/landmarks.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/search/interval_search.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 28;

NavMesh WithAll(const NavMesh& mesh) {
  absl::StatusOr<NavMesh> with = WithLandmarks(mesh);
  EXPECT_THAT(with, IsOk());
  EXPECT_NE(with->landmarks(), nullptr);
  return *std::move(with);
}

MeshPlace AnyPlace(const NavMesh& mesh, Random& random) {
  const std::vector<PolygonNumber> polygons = mesh.Polygons();
  const PolygonNumber polygon =
      polygons[static_cast<std::size_t>(random.Between(0, static_cast<int>(polygons.size()) - 1))];
  const WorldPoint middle = MiddleOf(mesh, polygon);
  return {polygon, mesh.NearestPoint(polygon, middle.x, middle.y)};
}

// Compares bounds with shortest paths from beside some vertices to one place, and paths to it with those of
// searches without landmarks.
void ExpectBounds(const NavMesh& mesh, Random& random) {
  const NavMesh without = mesh.WithLandmarks(nullptr);
  MeshScratch scratch(kMuch);
  const MeshPlace goal = AnyPlace(mesh, random);
  const GoalBounds bounds(mesh, {&goal, 1});
  for (int i = 0; i < 24; ++i) {
    const MeshPlace start = AnyPlace(mesh, random);
    const double length = LengthOf(without, start, goal, scratch);
    EXPECT_THAT(LengthOf(mesh, start, goal, scratch),
                ::testing::AnyOf(length, ::testing::DoubleNear(length, 1e-9)));
    for (const std::uint32_t vertex : mesh.VerticesOf(start.polygon)) {
      // A path may start in a vertex where polygons meet, but not pass it.
      const WorldPoint& corner = mesh.VertexAt(vertex);
      const MeshPlace beside{start.polygon,
                             mesh.NearestPoint(start.polygon, corner.x + (start.point.x - corner.x) / 1024,
                                               corner.y + (start.point.y - corner.y) / 1024)};
      EXPECT_LE(bounds.At(vertex),
                LengthOf(without, beside, goal, scratch) + PlanDistance(corner, beside.point));
    }
  }
}

TEST(LandmarksTest, BoundsAreNeverTooHigh) {
  ForSeeds(200, [](Random& random) {
    ExpectBounds(WithAll(MeshOf(BentFloors(random, random.Between(1, 2), 6, 14))), random);
    ExpectBounds(WithAll(MeshOf(DrawRooms(RandomRooms(24, 24, 0.3, random), &random))), random);
  });
}

TEST(LandmarksTest, BoundsHoldWhereHolesAreCut) {
  ForSeeds(200, [](Random& random) {
    const NavMesh mesh = WithAll(MeshOf(DrawRooms(RandomRooms(20, 20, 0.2, random), &random)));
    Shape shape;
    for (int i = 0; i < 12; ++i) {
      shape.discs.push_back({.center = {random.Between(0, 80) / 4.0, random.Between(0, 80) / 4.0},
                             .radius = random.Between(1, 8) / 8.0});
    }
    const absl::StatusOr<NavMesh> cut =
        ChangeHoles(mesh, {.removed = {}, .added = *HolesOf(shape, HeightRange())});
    ASSERT_THAT(cut, IsOk());
    if (!cut->Polygons().empty()) {
      ExpectBounds(*cut, random);
    }
  });
}

// A hall of posts that is open to the left, and a way round it along the bottom.
std::vector<std::string> Hall() {
  std::vector<std::string> rows(41, std::string(40, '.'));
  for (std::size_t y = 0; y + 1 < rows.size(); ++y) {
    for (std::size_t x = 4; x < 36; ++x) {
      rows[y][x] = y % 2 == 1 && x % 2 == 1 ? '#' : '.';
    }
    rows[y][36] = '#';
  }
  rows[39].replace(4, 32, std::string(32, '#'));
  return rows;
}

TEST(LandmarksTest, ASearchDoesNotFillADeadEnd) {
  const NavMesh mesh = *CreateMesh(DrawRooms(Hall()));
  ASSERT_NE(mesh.landmarks(), nullptr);
  const MeshPlace start = PlaceAt(mesh, 0.5, 20.5);
  const MeshPlace goal = PlaceAt(mesh, 38.5, 20.5);
  MeshScratch scratch(kMuch);
  const std::uint64_t expanded = SearchMesh(mesh, {start, goal}, {}, scratch).statistics.expanded;
  const MeshSearchReport without = SearchMesh(mesh.WithLandmarks(nullptr), {start, goal}, {}, scratch);
  EXPECT_LT(4 * expanded, without.statistics.expanded);
}

TEST(LandmarksTest, SmallMeshesHaveNone) {
  EXPECT_EQ(CreateMesh(DrawRooms({"..", ".#"}))->landmarks(), nullptr);
}

}  // namespace
}  // namespace waystar::core
