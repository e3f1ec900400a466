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

// Two meshes of the same polygons.
struct Pair {
  template <typename Make>
  explicit Pair(const Make& make) : with(make()), without(make()) {
    EXPECT_THAT(BuildLandmarks(with), IsOk());
    EXPECT_NE(with.landmarks(), nullptr);
    without.landmark_slot().LeaveToBackground();
  }

  NavMesh with;
  NavMesh without;
};

MeshPlace AnyPlace(const NavMesh& mesh, Random& random) {
  const std::vector<PolygonNumber> polygons = mesh.Polygons();
  const PolygonNumber polygon =
      polygons[static_cast<std::size_t>(random.Between(0, static_cast<int>(polygons.size()) - 1))];
  const WorldPoint middle = MiddleOf(mesh, polygon);
  return {polygon, mesh.NearestPoint(polygon, middle.x, middle.y)};
}

// Compares bounds with shortest paths from beside some vertices to one place, and paths to it with those of
// searches without landmarks.
void ExpectBounds(const Pair& pair, Random& random) {
  const auto& [mesh, without] = pair;
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
    for (const MeshSpec& spec : {BentFloors(random, random.Between(1, 2), 6, 14),
                                 DrawRooms(RandomRooms(24, 24, 0.3, random), &random)}) {
      ExpectBounds(Pair([&] { return MeshOf(spec); }), random);
    }
  });
}

TEST(LandmarksTest, BoundsHoldWhereHolesAreCut) {
  ForSeeds(200, [](Random& random) {
    const MeshSpec spec = DrawRooms(RandomRooms(20, 20, 0.2, random), &random);
    Shape shape;
    for (int i = 0; i < 12; ++i) {
      shape.discs.push_back({.center = {random.Between(0, 80) / 4.0, random.Between(0, 80) / 4.0},
                             .radius = random.Between(1, 8) / 8.0});
    }
    const Pair rooms(
        [&] { return *ChangeHoles(MeshOf(spec), {.removed = {}, .added = *HolesOf(shape, HeightRange())}); });
    if (!rooms.with.Polygons().empty()) {
      ExpectBounds(rooms, random);
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
  const Pair hall([] { return MeshOf(DrawRooms(Hall())); });
  const MeshPlace start = PlaceAt(hall.with, 0.5, 20.5);
  const MeshPlace goal = PlaceAt(hall.with, 38.5, 20.5);
  MeshScratch scratch(kMuch);
  const std::uint64_t expanded = SearchMesh(hall.with, {start, goal}, {}, scratch).statistics.expanded;
  const MeshSearchReport without = SearchMesh(hall.without, {start, goal}, {}, scratch);
  EXPECT_LT(4 * expanded, without.statistics.expanded);
}

TEST(LandmarksTest, AreBuiltOnceSearchesHavePaid) {
  const NavMesh mesh = MeshOf(DrawRooms(Hall()));
  const MeshPlace start = PlaceAt(mesh, 0.5, 20.5);
  const MeshPlace goal = PlaceAt(mesh, 38.5, 20.5);
  MeshScratch scratch(kMuch);
  SearchMesh(mesh, {start, start}, {}, scratch);
  EXPECT_EQ(mesh.landmarks(), nullptr);
  const double length = SearchMesh(mesh, {start, goal}, {}, scratch).length;
  for (int i = 0; i < 100 && mesh.landmarks() == nullptr; ++i) {
    SearchMesh(mesh, {start, goal}, {}, scratch);
  }
  EXPECT_NE(mesh.landmarks(), nullptr);
  EXPECT_NEAR(SearchMesh(mesh, {start, goal}, {}, scratch).length, length, 1e-9);
}

TEST(LandmarksTest, SmallMeshesGetNone) {
  EXPECT_FALSE(MeshOf(DrawRooms({"..", ".#"})).landmark_slot().is_wanted());
}

}  // namespace
}  // namespace waystar::core
