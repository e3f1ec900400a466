#include "server/core/mesh/search/mesh_wall.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "server/base/error.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/polygons_around.h"
#include "tests/core/mesh/search/sight_graph.h"

namespace waystar::core {
namespace {

constexpr double kAnyDistance = 1e6;

std::optional<MeshWall> NearestWall(const NavMesh& mesh, const MeshPlace& place, double radius) {
  const absl::StatusOr<MeshWallReport> report = FindNearestWall(mesh, place, radius, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? report->wall : std::nullopt;
}

TEST(MeshWallTest, OnAWallItPointsIntoThePolygon) {
  const NavMesh mesh = MeshOf(DrawRooms({"..", ".."}));
  const std::optional<MeshWall> wall = NearestWall(mesh, PlaceAt(mesh, 0.5, 0), 0.0);
  ASSERT_TRUE(wall.has_value());
  EXPECT_EQ(wall->distance, 0.0);
  EXPECT_EQ(wall->end.point, (WorldPoint{0.5, 0}));
  EXPECT_EQ(wall->normal, (Point{0, 1}));
}

TEST(MeshWallTest, LooksAtNoMoreThanTheBudgetAllows) {
  const NavMesh mesh = MeshOf(DrawRooms({"......", "......", "......", "......", "......"}));
  Budget budget;
  budget.max_expansions = 2;
  const absl::StatusOr<MeshWallReport> report =
      FindNearestWall(mesh, PlaceAt(mesh, 2.5, 2.5), kAnyDistance, budget);
  EXPECT_EQ(ErrorReasonOf(report.status()), "REGION_TOO_LARGE");
}

TEST(MeshWallTest, OnOpenGroundItLooksAtFewPolygons) {
  const NavMesh mesh = MeshOf(DrawRooms(std::vector<std::string>(61, std::string(81, '.'))));
  const MeshPlace place = PlaceAt(mesh, 40.25, 30.25);
  // About 2,900 squares are nearer than the wall.
  for (const double radius : {kAnyDistance, 30.0}) {
    const absl::StatusOr<MeshWallReport> report = FindNearestWall(mesh, place, radius, {});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_LT(report->expanded, 100U);
  }
  const std::optional<MeshWall> wall = NearestWall(mesh, place, kAnyDistance);
  ASSERT_TRUE(wall.has_value());
  EXPECT_EQ(wall->distance, 30.25);
  EXPECT_EQ(wall->normal, (Point{0, 1}));
  EXPECT_FALSE(NearestWall(mesh, place, 30.0).has_value());
}

TEST(MeshWallTest, WallsOfOtherFloorsTakeNoLongerThanTheFlood) {
  Random random(1);
  MeshSpec spec = DrawRooms(std::vector<std::string>(41, std::string(41, '.')));
  AddFloor(spec, 40, 40, 10.0, random);
  const NavMesh mesh = MeshOf(std::move(spec));
  const absl::StatusOr<MeshWallReport> report =
      FindNearestWall(mesh, PlaceAt(mesh, 20.25, 20.25), kAnyDistance, {});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->wall.has_value());
  EXPECT_EQ(report->wall->distance, 20.25);
  EXPECT_LT(report->expanded, 2U * 41U * 41U);
}

// A flood that looks at all polygons, nearest first.
std::optional<MeshWall> SlowNearestWall(const NavMesh& mesh, const MeshPlace& place) {
  std::set<std::pair<double, PolygonNumber>> open;
  for (const PolygonNumber polygon : FindPolygonsAround(mesh, place)) {
    open.emplace(0.0, polygon);
  }
  std::set<PolygonNumber> seen;
  std::optional<MeshWall> found;
  double least = std::numeric_limits<double>::infinity();
  while (!open.empty() && open.begin()->first <= least) {
    const PolygonNumber polygon = open.extract(open.begin()).value().second;
    if (!seen.insert(polygon).second) {
      continue;
    }
    const auto vertices = mesh.VerticesOf(polygon);
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const PolygonNumber neighbour = mesh.NeighboursOf(polygon)[k];
      const SegmentPoint nearest = NearestOnPlanSegment(
          mesh.VertexAt(vertices[k]), mesh.VertexAt(vertices[(k + 1) % vertices.size()]), place.point);
      if (neighbour != kNoPolygon) {
        open.emplace(nearest.squared_distance, neighbour);
      } else if (nearest.squared_distance < least) {
        least = nearest.squared_distance;
        found = MeshWall{
            {polygon, mesh.NearestPoint(polygon, nearest.point.x, nearest.point.y)}, std::sqrt(least), {}};
      }
    }
  }
  return found;
}

void ExpectAsSlow(const NavMesh& mesh, int places, Random& random) {
  for (int i = 0; i < places; ++i) {
    const MeshPlace place = RandomPlace(mesh, random);
    SCOPED_TRACE(::testing::Message() << place.polygon << " at " << place.point.x << " " << place.point.y);
    const std::optional<MeshWall> wall = NearestWall(mesh, place, kAnyDistance);
    const std::optional<MeshWall> slow = SlowNearestWall(mesh, place);
    ASSERT_TRUE(wall.has_value() && slow.has_value());
    EXPECT_EQ(wall->distance, slow->distance);
    EXPECT_EQ(wall->end, slow->end);
  }
}

// Stairs of squares that turn three times round a pillar, one turn above the other, some of them missing.
MeshSpec Spiral(int rings, double missing, Random& random) {
  constexpr int kSteps = 24;
  constexpr int kTurns = 3;
  MeshSpec spec;
  for (int step = 0; step <= kSteps * kTurns; ++step) {
    for (int ring = 0; ring <= rings; ++ring) {
      const double angle = 2.0 * 3.14159265 * step / kSteps;
      spec.vertices.push_back({(1 + ring) * std::cos(angle), (1 + ring) * std::sin(angle), 0.25 * step});
    }
  }
  const auto stride = static_cast<std::uint32_t>(rings + 1);
  for (std::uint32_t step = 0; step < kSteps * kTurns; ++step) {
    for (std::uint32_t ring = 0; ring + 1 < stride; ++ring) {
      const std::uint32_t corner = step * stride + ring;
      if (!random.Chance(missing)) {
        spec.AddPolygon({corner, corner + 1, corner + stride + 1, corner + stride});
      }
    }
  }
  return spec;
}

TEST(MeshWallPropertyTest, FindsWhatAFloodOverAllPolygonsFinds) {
  ForSeeds(20, [&](Random& random) {
    ExpectAsSlow(MeshOf(DrawRooms(RandomRooms(40, 30, 0.002, random))), 20, random);
    ExpectAsSlow(MeshOf(DrawRooms(RandomRooms(40, 30, 0.002, random), &random)), 20, random);
    ExpectAsSlow(MeshOf(Spiral(14, 0.01, random)), 20, random);
    ExpectAsSlow(MeshOf(Spiral(14, 0.05, random)), 20, random);
  });
}

void ExpectInSight(const NavMesh& mesh, const MeshPlace& place, const MeshWall& wall) {
  const double x = wall.end.point.x - place.point.x;
  const double y = wall.end.point.y - place.point.y;
  EXPECT_NEAR(std::hypot(x, y), wall.distance, 1e-5);
  EXPECT_NEAR(std::hypot(wall.normal.x, wall.normal.y), 1.0, 1e-9);
  EXPECT_NEAR(wall.normal.x * x + wall.normal.y * y, -wall.distance, 1e-5);
  // A ray ends there, and none ends sooner.
  if (wall.distance > 1e-3) {
    const double share = 1.0 - 1e-5 / wall.distance;
    const WorldPoint before{place.point.x + share * x, place.point.y + share * y, wall.end.point.z};
    EXPECT_FALSE(CastMeshRay(mesh, place, before).is_blocked);
    for (int i = 0; i < 8; ++i) {
      const double angle = 0.7853981 * i;
      const WorldPoint there{place.point.x + share * wall.distance * std::cos(angle),
                             place.point.y + share * wall.distance * std::sin(angle), place.point.z};
      EXPECT_FALSE(CastMeshRay(mesh, place, there).is_blocked) << angle;
    }
  }
}

TEST(MeshWallPropertyTest, OnOneFloorItIsTheNearestOfAllWalls) {
  ForSeeds(100, [&](Random& random) {
    const std::vector<std::string> rows = RandomRooms(12, 12, 0.1, random);
    const NavMesh mesh = MeshOf(DrawRooms(rows, random.Chance(0.5) ? &random : nullptr));
    for (int i = 0; i < 50; ++i) {
      const MeshPlace place = RandomPlace(mesh, random);
      const double distance =
          DistanceToWalls(mesh, place.point, 0, static_cast<PolygonNumber>(mesh.polygon_count()));
      const std::optional<MeshWall> wall = NearestWall(mesh, place, kAnyDistance);
      ASSERT_TRUE(wall.has_value());
      EXPECT_NEAR(wall->distance, distance, 1e-9);
      ExpectInSight(mesh, place, *wall);
      EXPECT_EQ(NearestWall(mesh, place, distance + 1e-9), wall);
      if (distance > 1e-6) {
        EXPECT_FALSE(NearestWall(mesh, place, distance - 1e-9).has_value());
      }
    }
  });
}

TEST(MeshWallPropertyTest, OnBentFloorsAboveEachOtherItIsTheNearestOfTheFloor) {
  ForSeeds(100, [&](Random& random) {
    MeshSpec spec;
    std::vector<PolygonNumber> ends{0};
    for (int floor = 0; floor < 3; ++floor) {
      AddFloor(spec, 6, 6, 4.0 * floor, random);
      ends.push_back(static_cast<PolygonNumber>(MeshOf(spec).polygon_count()));
    }
    const NavMesh mesh = MeshOf(std::move(spec));
    for (int i = 0; i < 50; ++i) {
      const MeshPlace place = RandomPlace(mesh, random);
      const auto floor = std::upper_bound(ends.begin(), ends.end(), place.polygon);
      const std::optional<MeshWall> wall = NearestWall(mesh, place, kAnyDistance);
      ASSERT_TRUE(wall.has_value());
      EXPECT_NEAR(wall->distance, DistanceToWalls(mesh, place.point, *(floor - 1), *floor), 1e-9);
      EXPECT_GE(wall->end.polygon, *(floor - 1));
      EXPECT_LT(wall->end.polygon, *floor);
      ExpectInSight(mesh, place, *wall);
    }
  });
}

}  // namespace
}  // namespace waystar::core
