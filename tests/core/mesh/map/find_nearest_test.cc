// Point location: which polygon a position belongs to.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "tests/core/mesh/map/drawn_mesh.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;
using ::waystar::testing::AddFloor;
using ::waystar::testing::DrawMesh;
using ::waystar::testing::MeshOf;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

constexpr double kAnywhere = std::numeric_limits<double>::infinity();

// A floor at height 0 from (0, 0) to (4, 4), a bridge at height 3 over its right half that goes on to x = 6.
NavMesh FloorAndBridge() {
  return MeshOf(
      DrawMesh({{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {2, 0, 3}, {6, 0, 3}, {6, 4, 3}, {2, 4, 3}},
               {{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(FindNearestTest, HeedsBothLimits) {
  const NavMesh mesh = FloorAndBridge();
  EXPECT_EQ(mesh.FindNearest({{1, 1, 2}, 0.5, 1.75}), std::nullopt);
  EXPECT_THAT(mesh.FindNearest({{1, 1, 2}, 0.5, 2.0}), Optional(MeshPlace{0, {1, 1, 0}}));
  EXPECT_THAT(mesh.FindNearest({{1, 1, 2}, 1.0, 1.75}), Optional(MeshPlace{1, {2, 1, 3}}));
  EXPECT_EQ(mesh.FindNearest({{7, 5, 3}, 1.25, 1.0}), std::nullopt) << "a corner is further than its sides";
  EXPECT_THAT(mesh.FindNearest({{9, 8, 3}, 5.0, 0.0}), Optional(MeshPlace{1, {6, 4, 3}}));
  EXPECT_EQ(mesh.FindNearest({{9, 8, 3}, 4.9375, 0.0}), std::nullopt);
}

TEST(FindNearestTest, AnEdgeInCommonBelongsToTheLowerNumber) {
  std::vector<WorldPoint> vertices;
  for (int y = 0; y <= 2; ++y) {
    for (int x = 0; x <= 2; ++x) {
      vertices.push_back({1.0 * x, 1.0 * y});
    }
  }
  const NavMesh mesh = MeshOf(DrawMesh(vertices, {{4, 5, 8, 7}, {3, 4, 7, 6}, {1, 2, 5, 4}, {0, 1, 4, 3}}));
  EXPECT_THAT(mesh.FindNearest({{1, 1}, 0.0, 0.0}), Optional(MeshPlace{0, {1, 1}}));
  EXPECT_THAT(mesh.FindNearest({{1, 0.5}, 0.0, 0.0}), Optional(MeshPlace{2, {1, 0.5}}));
  EXPECT_THAT(mesh.FindNearest({{0.5, 1}, 0.0, 0.0}), Optional(MeshPlace{1, {0.5, 1}}));
  EXPECT_THAT(mesh.FindNearest({{1, -1}, 2.0, 0.0}), Optional(MeshPlace{2, {1, 0}}));
}

TEST(FindNearestTest, APointInCommonBelongsToThePartWithMoreGround) {
  const NavMesh mesh = MeshOf(DrawMesh({{0, 0}, {1, 0}, {1, 1}, {0, 1}, {1, 1}, {3, 1}, {3, 3}, {1, 3}},
                                       {{0, 1, 2, 3}, {4, 5, 6, 7}}));
  ASSERT_EQ(mesh.part_count(), 2U);
  EXPECT_THAT(mesh.FindNearest({{1, 1}, 0.0, 0.0}), Optional(MeshPlace{1, {1, 1}}));
  EXPECT_THAT(mesh.FindNearest({{1, 1}, 0.0, 0.0}, mesh.PartOf(0)), Optional(MeshPlace{0, {1, 1}}));
}

TEST(FindNearestTest, AllThatAreNearCanBeFound) {
  const NavMesh mesh = FloorAndBridge();
  std::vector<MeshPlace> places;
  mesh.FindAllNear({{3, 1, 1.25}, 1.0, 4.0}, places);
  EXPECT_THAT(places, ElementsAre(MeshPlace{0, {3, 1, 0}}, MeshPlace{1, {3, 1, 3}}));
  mesh.FindAllNear({{3, 1, 1.25}, 1.0, 1.5}, places);
  EXPECT_THAT(places, SizeIs(3)) << "they are added";
  EXPECT_EQ(places.back(), (MeshPlace{0, {3, 1, 0}}));
  places.clear();
  mesh.FindAllNear({{7, 5, 3}, 1.25, 1.0}, places);
  EXPECT_THAT(places, IsEmpty());
}

TEST(FindNearestTest, HeightsAreThoseOfTheSurface) {
  // A saddle: opposite corners are as high as each other.
  const NavMesh mesh = MeshOf(DrawMesh({{0, 0, 0}, {4, 0, 2}, {4, 4, 0}, {0, 4, 2}}, {{0, 1, 2, 3}}));
  EXPECT_THAT(mesh.FindNearest({{1, 1, 0}, 0.0, 9.0}), Optional(MeshPlace{0, {1, 1, 0.5}}));
  EXPECT_THAT(mesh.FindNearest({{2, 2, 0}, 0.0, 9.0}), Optional(MeshPlace{0, {2, 2, 1}}));
  EXPECT_THAT(mesh.FindNearest({{4, 3, 0}, 0.0, 9.0}), Optional(MeshPlace{0, {4, 3, 0.5}}));
  EXPECT_THAT(mesh.FindNearest({{5, 1, 0}, 1.0, 9.0}), Optional(MeshPlace{0, {4, 1, 1.5}}));
}

// Points of a slanted edge are hardly ever on it once they are rounded: which side they are on is exact.
TEST(FindNearestTest, SidesOfEdgesAreExact) {
  const double far = kMaxReach;
  const NavMesh mesh = MeshOf(DrawMesh({{-far, -far}, {far, -far + 1}, {far, far}}, {{0, 1, 2}}));
  // On the edge, where its height over -far grows by 1 in 2^21.
  const double x = far / 2;
  const double on_edge = -far + 0.75;
  const double step = 1.0 / (1 << 20);
  EXPECT_TRUE(mesh.Contains(0, ToFixed(Point{x, on_edge})));
  EXPECT_TRUE(mesh.Contains(0, ToFixed(Point{x, on_edge + step})));
  EXPECT_FALSE(mesh.Contains(0, ToFixed(Point{x, on_edge - step})));
  EXPECT_TRUE(mesh.Contains(0, ToFixed(Point{-far, -far})));
  EXPECT_FALSE(mesh.Contains(0, ToFixed(Point{-far, -far + step})));
}

using Real = long double;
struct RealPoint {
  Real x = 0;
  Real y = 0;
  Real z = 0;
};

RealPoint RealOf(const WorldPoint& point) { return {point.x, point.y, point.z}; }

// Returns the point of a triangle that is nearest to (x, y) seen from above, with its height.
RealPoint NearestOfTriangle(const std::vector<RealPoint>& corners, Real x, Real y) {
  const auto cross = [](const RealPoint& a, const RealPoint& b, Real px, Real py) {
    return (b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x);
  };
  const RealPoint& a = corners[0];
  const RealPoint& b = corners[1];
  const RealPoint& c = corners[2];
  const Real whole = cross(a, b, c.x, c.y);
  const Real of_a = cross(b, c, x, y) / whole;
  const Real of_b = cross(c, a, x, y) / whole;
  const Real of_c = cross(a, b, x, y) / whole;
  if (of_a >= 0 && of_b >= 0 && of_c >= 0) {
    return {x, y, of_a * a.z + of_b * b.z + of_c * c.z};
  }
  RealPoint nearest;
  Real least = std::numeric_limits<Real>::infinity();
  for (std::size_t k = 0; k < 3; ++k) {
    const RealPoint& from = corners[k];
    const RealPoint& to = corners[(k + 1) % 3];
    const Real dx = to.x - from.x;
    const Real dy = to.y - from.y;
    const Real share = std::clamp<Real>(((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy), 0, 1);
    const RealPoint point = {from.x + share * dx, from.y + share * dy, from.z + share * (to.z - from.z)};
    const Real distance = std::hypot(point.x - x, point.y - y);
    if (distance < least) {
      least = distance;
      nearest = point;
    }
  }
  return nearest;
}

RealPoint NearestOfPolygon(const NavMesh& mesh, PolygonNumber polygon, Real x, Real y) {
  const auto loop = mesh.VerticesOf(polygon);
  RealPoint mean;
  for (const std::uint32_t vertex : loop) {
    const RealPoint point = RealOf(mesh.VertexAt(vertex));
    const auto count = static_cast<Real>(loop.size());
    mean = {mean.x + point.x / count, mean.y + point.y / count, mean.z + point.z / count};
  }
  RealPoint nearest;
  Real least = std::numeric_limits<Real>::infinity();
  for (std::size_t k = 0; k < loop.size(); ++k) {
    const RealPoint point = NearestOfTriangle(
        {mean, RealOf(mesh.VertexAt(loop[k])), RealOf(mesh.VertexAt(loop[(k + 1) % loop.size()]))}, x, y);
    if (std::hypot(point.x - x, point.y - y) < least) {
      least = std::hypot(point.x - x, point.y - y);
      nearest = point;
    }
  }
  return nearest;
}

// Rounding to 2^-20 moves a point by less than this, heights on the slopes of these meshes included.
constexpr Real kSlack = 1e-5;

// Judges the answer for a position by looking at every polygon.
void JudgeNearest(const NavMesh& mesh, const MeshReach& reach) {
  const auto distance_of = [&](const RealPoint& point) {
    return std::hypot(point.x - reach.position.x, point.y - reach.position.y, point.z - reach.position.z);
  };
  const std::optional<MeshPlace> place = mesh.FindNearest(reach);
  if (place) {
    const RealPoint point = RealOf(place->point);
    const RealPoint nearest = NearestOfPolygon(mesh, place->polygon, reach.position.x, reach.position.y);
    EXPECT_LT(std::hypot(point.x - nearest.x, point.y - nearest.y, point.z - nearest.z), kSlack);
    EXPECT_LE(std::hypot(point.x - reach.position.x, point.y - reach.position.y), reach.radius + kSlack);
    EXPECT_LE(std::abs(point.z - reach.position.z), reach.height + kSlack);
  }
  const Real found = place ? distance_of(RealOf(place->point)) : std::numeric_limits<Real>::infinity();
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const RealPoint point = NearestOfPolygon(mesh, polygon, reach.position.x, reach.position.y);
    if (std::hypot(point.x - reach.position.x, point.y - reach.position.y) < reach.radius - kSlack &&
        std::abs(point.z - reach.position.z) < reach.height - kSlack) {
      EXPECT_LE(found, distance_of(point) + kSlack) << "polygon " << polygon;
    }
  }
}

Real AreaOfPart(const NavMesh& mesh, std::uint32_t part) {
  Real area = 0.0;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    const auto loop = mesh.VerticesOf(polygon);
    for (std::size_t k = 0; mesh.PartOf(polygon) == part && k < loop.size(); ++k) {
      const RealPoint a = RealOf(mesh.VertexAt(loop[k]));
      const RealPoint b = RealOf(mesh.VertexAt(loop[(k + 1) % loop.size()]));
      area += (a.x * b.y - a.y * b.x) / 2;
    }
  }
  return area;
}

TEST(FindNearestTest, IsRightOnRandomMeshes) {
  Random random(20);
  for (std::uint64_t round = 0; round < Rounds(20); ++round) {
    MeshSpec spec;
    for (int floor = random.Between(1, 4); floor > 0; --floor) {
      AddFloor(spec, random.Between(2, 9), random.Between(2, 9), 1.5 * floor, random);
    }
    const NavMesh mesh = MeshOf(std::move(spec));
    for (int i = 0; i < 60; ++i) {
      const auto coordinate = [&] { return random.Between(-2'000, 12'000) / 1'000.0; };
      JudgeNearest(mesh, {{coordinate(), coordinate(), coordinate() / 2},
                          random.Chance(0.2) ? kAnywhere : random.Between(1, 3'000) / 1'000.0,
                          random.Chance(0.2) ? kAnywhere : random.Between(1, 3'000) / 1'000.0});
    }
    // Vertices and middles of edges are on several polygons.
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      const auto loop = mesh.VerticesOf(polygon);
      const WorldPoint& a = mesh.VertexAt(loop[0]);
      const WorldPoint& b = mesh.VertexAt(loop[1]);
      JudgeNearest(mesh, {a, 0.0, 0.0});
      const auto place = mesh.FindNearest({a, 0.0, 0.0});
      ASSERT_TRUE(place.has_value());
      EXPECT_EQ(place->point, a);
      if (mesh.PartOf(place->polygon) == mesh.PartOf(polygon)) {
        EXPECT_LE(place->polygon, polygon);
      } else {
        EXPECT_GE(AreaOfPart(mesh, mesh.PartOf(place->polygon)),
                  AreaOfPart(mesh, mesh.PartOf(polygon)) - kSlack);
      }
      JudgeNearest(mesh, {{(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2}, 0.001, 0.001});
    }
  }
}

}  // namespace
}  // namespace waystar::core
