// The polygons around a place: all of a fan, whatever its size, and what searches that begin or end there
// make of them.

#include "server/core/mesh/search/polygons_around.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

constexpr std::size_t kPlenty = std::size_t{1} << 30;
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

// REQUIRES: a polygon is there.
MeshPlace PlaceOn(const NavMesh& mesh, double x, double y) {
  return *mesh.FindNearest({{x, y, 0.0}, 0.01, 0.5});
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
  ForMeshes(100, 2, [](const NavMesh& mesh, Random&) { ExpectFans(mesh); });
}

TEST(PolygonsAroundTest, AVertexHasAPlaceInEachFan) {
  const NavMesh mesh = MeshOf(DrawRooms({"..#..",  //
                                         "..#..",  //
                                         "##.##"}));
  const auto polygon = [&](double x, double y) { return PlaceOn(mesh, x, y).polygon; };
  const auto polygons_of = [&](PolygonNumber from, const WorldPoint& at) {
    std::vector<PolygonNumber> polygons;
    for (const MeshPlace& place : FindPlacesAround(mesh, {from, at})) {
      EXPECT_EQ(place.point, at);
      polygons.push_back(place.polygon);
    }
    return polygons;
  };
  const PolygonNumber left = polygon(1.5, 1.5);
  const PolygonNumber below = polygon(2.5, 2.5);
  EXPECT_THAT(polygons_of(left, {2, 2}), ElementsAre(left, below));
  EXPECT_THAT(polygons_of(below, {2, 2}), ElementsAre(below, left));
  EXPECT_THAT(polygons_of(below, {2.5, 2}), ElementsAre(below));
  EXPECT_THAT(polygons_of(left, {1, 1}), ElementsAre(left));
  EXPECT_THAT(polygons_of(left, {2, 1}), ElementsAre(left));
  EXPECT_EQ(FindPartsAround(mesh, {left, {2, 2}}).size(), 2u);
  EXPECT_FALSE(HaveSharedPart(FindPartsAround(mesh, {left, {2, 2}}),
                              FindPartsAround(mesh, {polygon(3.5, 1.5), {4, 1}})));
  EXPECT_TRUE(HaveSharedPart(FindPartsAround(mesh, {left, {2, 2}}), FindPartsAround(mesh, {below, {3, 2}})));
}

TEST(PolygonsAroundTest, OnesFarFromThePlaceComeLast) {
  EXPECT_THAT(Around(Wheel(8), {2, {0, 0, 0}}), ElementsAre(2, 1, 3, 0, 4, 7, 5, 6));
  EXPECT_THAT(Around(Wheel(8), {2, {1, 2, 0}}), ElementsAre(2));
}

TEST(PolygonsAroundTest, ASetTakesThemInOnce) {
  const NavMesh mesh = Wheel(100);
  PolygonSet set;
  AddPolygonsAround(mesh, {2, {0, 0, 0}}, set);
  AddPolygonsAround(mesh, {7, {0, 0, 0}}, set);
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    EXPECT_EQ(set.Has(polygon), polygon < 100);
  }
}

// So many polygons that to look at all of them for each takes too long.
class LargeWheelTest : public ::testing::Test {
 protected:
  const std::uint32_t count_ = static_cast<std::uint32_t>(Rounds(100'000));
  const NavMesh mesh_ = Wheel(count_);
  const MeshPlace middle_{0, {0, 0, 0}};
  MeshScratch scratch_{kPlenty};
};

TEST_F(LargeWheelTest, AllOfItsPolygonsAreAroundTheMiddle) {
  std::vector<PolygonNumber> around = Around(mesh_, middle_);
  std::ranges::sort(around);
  std::vector<PolygonNumber> all(count_);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(around, all);
}

TEST_F(LargeWheelTest, PathsLeadStraightToTheMiddleAndFromThere) {
  const MeshPlace outside = PlaceOn(mesh_, -1.5 * kRim, 0.25 * kRim);
  const auto expect_straight = [&](const MeshPlace& start, const MeshPlace& goal) {
    const MeshSearchReport report = SearchMesh(mesh_, {start, goal}, Budget{}, scratch_);
    EXPECT_EQ(report.end, SearchEnd::kGoalReached);
    EXPECT_THAT(report.corners, ElementsAre(start.point, goal.point));
    EXPECT_THAT(report.corridor, SizeIs(2));
  };
  expect_straight(outside, middle_);
  expect_straight(middle_, outside);
}

TEST_F(LargeWheelTest, AllOfItsPolygonsAreWithinReachOfTheMiddle) {
  const auto reach = [&](const MeshReachQuery& query) {
    const absl::StatusOr<ReachablePolygons> reachable =
        FindReachablePolygons(mesh_, query, Budget{}, scratch_);
    EXPECT_THAT(reachable, IsOk());
    return reachable.ok() ? reachable->polygons : std::vector<ReachablePolygon>();
  };
  const std::vector<ReachablePolygon> all = reach({.start = middle_, .max_cost = 1.0, .region = {}});
  EXPECT_THAT(all, SizeIs(count_));
  EXPECT_THAT(all, Each(Field(&ReachablePolygon::cost, 0.0)));
  // The half of them at which y is 0 or more.
  EXPECT_THAT(reach({.start = middle_, .max_cost = 1.0, .region = Box{-kRim, 0, kRim, kRim}}),
              SizeIs(count_ / 2));
}

}  // namespace
}  // namespace waystar::core
