#include "server/core/mesh/search/mesh_ray.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_move.h"
#include "server/core/mesh/search/polygons_around.h"
#include "tests/core/mesh/search/sight_graph.h"

namespace waystar::core {
namespace {

using ::testing::Eq;
using ::testing::Optional;

constexpr std::size_t kRayScratchBytes = std::size_t{1} << 28;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How near the ends of walls come to the segment.
double DistanceOfWallEnds(const NavMesh& mesh, const WorldPoint& a, const WorldPoint& b) {
  double least = kInfinity;
  for (std::uint32_t vertex = 0; vertex < mesh.vertex_count(); ++vertex) {
    if (mesh.WallsAt(vertex).from != VertexWalls::kNone) {
      least = std::min(least, DistanceToSegment(a, b, mesh.VertexAt(vertex)));
    }
  }
  return least;
}

TEST(MeshRayTest, EndsAtTheFirstWall) {
  MeshSpec spec = DrawRooms({"....",  //
                             "..#.",  //
                             "...."});
  for (WorldPoint& vertex : spec.vertices) {
    vertex.z = 0.25 * vertex.x;
  }
  const NavMesh mesh = MeshOf(std::move(spec));
  const MeshRayHit hit = CastMeshRay(mesh, PlaceAt(mesh, 0.5, 1.5), PlaceAt(mesh, 3.5, 1.5, 0.875));
  EXPECT_TRUE(hit.is_blocked);
  EXPECT_FALSE(hit.reaches_goal);
  EXPECT_EQ(hit.end, (MeshPlace{PlaceAt(mesh, 1.5, 1.5).polygon, {2, 1.5, 0.5}}));
  EXPECT_DOUBLE_EQ(hit.length, 1.5);
  EXPECT_DOUBLE_EQ(hit.fraction, 0.5);
  EXPECT_EQ(hit.wall_normal, (Point{-1, 0}));
}

TEST(MeshRayTest, StopsAtAVertexWhereAWallBegins) {
  const NavMesh mesh = MeshOf(DrawRooms({"....",  //
                                         "..#.",  //
                                         "...."}));
  const MeshRayHit hit = CastMeshRay(mesh, PlaceAt(mesh, 1, 0), WorldPoint{3, 2});
  EXPECT_TRUE(hit.is_blocked);
  EXPECT_EQ(hit.end.point, (WorldPoint{2, 1}));
  // Two walls meet there that face the ray alike.
  EXPECT_EQ(std::abs(hit.wall_normal.x + hit.wall_normal.y), 1.0);
  EXPECT_LE(hit.wall_normal.x, 0.0);
  EXPECT_LE(hit.wall_normal.y, 0.0);
  EXPECT_EQ(CastMeshRay(mesh, PlaceAt(mesh, 1, 0.5), WorldPoint{3, 1.5}).wall_normal, (Point{-1, 0}));
}

TEST(MeshRayTest, DoesNotPassWherePolygonsMeetInAVertexAlone) {
  const NavMesh mesh = MeshOf(DrawRooms({".....",  //
                                         "..##.",  //
                                         "##...",  //
                                         "##..."}));
  const MeshRayHit hit = CastMeshRay(mesh, PlaceAt(mesh, 1.5, 1.5), PlaceAt(mesh, 2.5, 2.5));
  EXPECT_TRUE(hit.is_blocked);
  EXPECT_EQ(hit.end.point, (WorldPoint{2, 2}));
  // A ray begins and ends on either side of the vertex, and one of a single fan on its own.
  const WorldPoint vertex{2, 2};
  const MeshPlace goal = PlaceAt(mesh, 2.5, 2.5);
  EXPECT_TRUE(CastMeshRay(mesh, {goal.polygon, vertex}, goal).reaches_goal);
  const MeshPlace other{PlaceAt(mesh, 1.5, 1.5).polygon, vertex};
  EXPECT_TRUE(CastMeshRay(mesh, other, goal).reaches_goal);
  EXPECT_TRUE(CastMeshRay(mesh, goal, other).reaches_goal);
  EXPECT_TRUE(CastMeshRay(mesh, other, MeshPlace{goal.polygon, vertex}).reaches_goal);
  EXPECT_EQ(CastMeshRay(mesh, other, WorldPoint{2.5, 2.5}).end, goal);
  EXPECT_FALSE(CastMeshRayInFan(mesh, other, goal).reaches_goal);
  EXPECT_FALSE(CastMeshRayInFan(mesh, goal, other).reaches_goal);
  EXPECT_FALSE(CastMeshRayInFan(mesh, other, MeshPlace{goal.polygon, vertex}).reaches_goal);
  EXPECT_TRUE(CastMeshRay(mesh, other, other).reaches_goal);
}

TEST(MeshRayTest, WallsWithoutWidthBlock) {
  // The wall leads from (2, 1) to (4, 1).
  const NavMesh mesh = MeshOf(DrawMesh({{0, 0}, {4, 0}, {4, 1}, {2, 1}, {0, 1}, {4, 1}, {4, 2}, {0, 2}},
                                       {{0, 1, 2, 3, 4}, {4, 3, 5, 6, 7}}));
  EXPECT_TRUE(CastMeshRay(mesh, {0, {3, 0.5}}, WorldPoint{3, 1.5}).is_blocked);
  EXPECT_EQ(CastMeshRay(mesh, {0, {3, 0.5}}, WorldPoint{3, 1.5}).end, (MeshPlace{0, {3, 1}}));
  EXPECT_TRUE(CastMeshRay(mesh, {0, {1, 0.5}}, WorldPoint{1, 1.5}).reaches_goal);
  EXPECT_TRUE(CastMeshRay(mesh, {0, {2, 0.5}}, WorldPoint{2, 1.5}).reaches_goal);
  EXPECT_TRUE(CastMeshRay(mesh, {0, {1, 1}}, MeshPlace{1, {4, 1}}).reaches_goal);
  // On the wall, on the other side of it.
  EXPECT_FALSE(CastMeshRay(mesh, {0, {3, 0.5}}, MeshPlace{1, {3, 1}}).reaches_goal);
  EXPECT_FALSE(CastMeshRay(mesh, {0, {3, 1}}, MeshPlace{1, {3, 1}}).reaches_goal);
}

TEST(MeshRayTest, AFloorAboveTheGoalIsNotTheGoal) {
  // Ground at y from 0 to 8, a ramp beside it that leads up to the right, and a deck that leads from there
  // back over the ground.
  const NavMesh mesh = MeshOf(DrawMesh({{0, 0, 0},
                                        {8, 0, 0},
                                        {8, 4, 0},
                                        {0, 4, 0},
                                        {12, 0, 3},
                                        {12, 4, 3},
                                        {12, 8, 3},
                                        {8, 8, 3},
                                        {4, 8, 3},
                                        {8, 8, 0},
                                        {0, 8, 0}},
                                       {{0, 1, 2, 3}, {1, 4, 5, 2}, {2, 5, 6, 7}, {2, 7, 8}, {3, 2, 9, 10}}));
  ASSERT_EQ(mesh.part_count(), 1u);
  const MeshPlace deck = PlaceAt(mesh, 7, 7.5, 2.625);
  const MeshPlace ground{4, {7, 7.5, 0}};
  ASSERT_EQ(deck.polygon, 3u);
  const MeshPlace above = PlaceAt(mesh, 11, 6.5, 2.625);
  ASSERT_EQ(above.polygon, 2u);
  const MeshRayHit to_deck = CastMeshRay(mesh, above, deck);
  EXPECT_TRUE(to_deck.reaches_goal);
  EXPECT_EQ(to_deck.end, deck);
  const MeshRayHit to_ground = CastMeshRay(mesh, above, ground);
  EXPECT_FALSE(to_ground.is_blocked);
  EXPECT_FALSE(to_ground.reaches_goal);
  EXPECT_EQ(to_ground.end, deck);
  EXPECT_DOUBLE_EQ(to_ground.length, std::hypot(4.0, 1.0));
  const MeshRayHit to_either = CastMeshRay(mesh, above, ground.point);
  EXPECT_TRUE(to_either.reaches_goal);
  EXPECT_EQ(to_either.end, deck);
  EXPECT_TRUE(CastMeshRay(mesh, {0, {7, 1, 0}}, ground).reaches_goal);
}

TEST(MeshRayTest, EndsWhereTheMeshEnds) {
  const NavMesh mesh = MeshOf(DrawRooms({"..", ".."}));
  const MeshPlace start = PlaceAt(mesh, 0.5, 0.5);
  const MeshRayHit hit = CastMeshRay(mesh, start, WorldPoint{4.5, 2.5, 7});
  EXPECT_TRUE(hit.is_blocked);
  EXPECT_EQ(hit.end.point, (WorldPoint{2, 1.25}));
  EXPECT_DOUBLE_EQ(hit.fraction, 0.375);
  // From the wall away from the mesh, and along it.
  const MeshPlace on_wall = PlaceAt(mesh, 2, 0.5);
  EXPECT_EQ(CastMeshRay(mesh, on_wall, WorldPoint{3, 0.5}),
            (MeshRayHit{.is_blocked = true, .end = on_wall, .fraction = 0.0, .wall_normal = {-1, 0}}));
  EXPECT_EQ(CastMeshRay(mesh, on_wall, WorldPoint{2, 9}).end.point, (WorldPoint{2, 2}));
  EXPECT_TRUE(CastMeshRay(mesh, on_wall, on_wall.point).reaches_goal);
}

struct RayCounts {
  int free = 0;
  int blocked = 0;
};

// Expects that the ray reaches the goal if and only if a straight line is a shortest path, and that it ends
// at a wall that stands in the way.
void ExpectAgrees(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal, MeshScratch& scratch,
                  RayCounts& counts) {
  SCOPED_TRACE(Between(start, goal.point));
  const double straight = PlanDistance(start.point, goal.point);
  const MeshRayHit hit = CastMeshRay(mesh, start, goal);
  const MeshSearchReport report = SearchMesh(mesh, {start, goal}, Budget{}, scratch);
  const bool is_straight = report.end == SearchEnd::kGoalReached && report.corners.size() <= 2;
  ASSERT_EQ(hit.reaches_goal, is_straight)
      << "straight " << straight << ", the path has " << report.corners.size() << " corners and length "
      << report.length;
  EXPECT_EQ(CastMeshRay(mesh, goal, start).reaches_goal, is_straight);
  EXPECT_EQ(CastMeshRay(mesh, start, goal), hit);
  EXPECT_NEAR(hit.length, hit.fraction * straight, 1e-5);
  EXPECT_TRUE(HaveSharedPart(FindPartsAround(mesh, start), FindPartsAround(mesh, hit.end)));
  if (hit.reaches_goal) {
    ++counts.free;
    EXPECT_FALSE(hit.is_blocked);
    EXPECT_NEAR(report.length, straight, 1e-9);
    EXPECT_EQ(hit.end, goal);
    return;
  }
  EXPECT_TRUE(report.end != SearchEnd::kGoalReached || report.length > straight);
  if (!hit.is_blocked) {
    EXPECT_EQ(hit.end.point.x, goal.point.x);
    EXPECT_EQ(hit.end.point.y, goal.point.y);
    EXPECT_FALSE(report.end == SearchEnd::kGoalReached && report.corridor.back() == hit.end.polygon);
    return;
  }
  ++counts.blocked;
  EXPECT_LE(DistanceToWalls(mesh, hit.end.point, 0, static_cast<PolygonNumber>(mesh.polygon_count())), 2e-6);
  const MeshSearchReport there = SearchMesh(mesh, {start, hit.end}, Budget{}, scratch);
  ASSERT_EQ(there.end, SearchEnd::kGoalReached);
  EXPECT_NEAR(there.length, hit.length, 1e-5);
}

// Expects that there is ground below all of the ray up to its end.
void ExpectOnGround(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal) {
  const MeshRayHit hit = CastMeshRay(mesh, start, goal);
  for (int i = 0; i <= 32; ++i) {
    const double share = hit.fraction * i / 32.0;
    const WorldPoint point{start.point.x + share * (goal.point.x - start.point.x),
                           start.point.y + share * (goal.point.y - start.point.y)};
    EXPECT_TRUE(std::ranges::any_of(FindPartsAround(mesh, start),
                                    [&](std::uint32_t part) {
                                      return mesh.FindNearest({point, 1e-5, kInfinity}, part).has_value();
                                    }))
        << point.x << " " << point.y;
  }
}

void ExpectAgreesAtRandom(const NavMesh& mesh, int pairs, Random& random, RayCounts& counts) {
  MeshScratch scratch(kRayScratchBytes);
  for (int i = 0; i < pairs && !::testing::Test::HasFailure(); ++i) {
    const MeshPlace start = RandomPlace(mesh, random);
    const MeshPlace goal = RandomPlace(mesh, random);
    ExpectAgrees(mesh, start, goal, scratch, counts);
    ExpectOnGround(mesh, start, goal);
  }
}

TEST(MeshRayPropertyTest, AgreesWithTheSearch) {
  RayCounts counts;
  ForMeshes(150, 3,
            [&](const NavMesh& mesh, Random& random) { ExpectAgreesAtRandom(mesh, 80, random, counts); });
  EXPECT_GT(counts.free, static_cast<int>(Rounds(1000)));
  EXPECT_GT(counts.blocked, static_cast<int>(Rounds(1000)));
}

TEST(MeshRayPropertyTest, AgreesWithTheSearchOnSpiralStairs) {
  for (const bool has_post : {false, true}) {
    SCOPED_TRACE(has_post);
    const NavMesh mesh = SpiralStairs(21, has_post);
    Random random(3);
    MeshScratch scratch(kRayScratchBytes);
    RayCounts counts;
    for (int i = 0; i < 4'000 && !::testing::Test::HasFailure(); ++i) {
      // Lines between opposite corners lead through the vertex in the middle.
      const MeshPlace start = RandomPlace(mesh, random);
      const MeshPlace goal = RandomPlace(mesh, random);
      ExpectAgrees(mesh, start, goal, scratch, counts);
    }
    EXPECT_GT(counts.free, 100);
    EXPECT_GT(counts.blocked, 100);
  }
}

TEST(MeshRayTest, GoesThroughTheMiddleOfASpiralToEveryFloor) {
  const NavMesh mesh = SpiralStairs(24, false);
  const MeshPlace start{0, mesh.NearestPoint(0, 2, 0)};
  int floors = 0;
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    if (!mesh.Contains(polygon, ToFixed(WorldPoint{-2, 0}))) {
      continue;
    }
    ++floors;
    const MeshPlace goal{polygon, mesh.NearestPoint(polygon, -2, 0)};
    EXPECT_TRUE(CastMeshRay(mesh, start, goal).reaches_goal) << polygon;
    EXPECT_EQ(CastMeshRay(mesh, start, goal.point).end.point, goal.point) << polygon;
  }
  EXPECT_EQ(floors, 6);
}

// Corners that are moved by a unit of rounding dent the polygons whose sides they were on.
TEST(MeshRayPropertyTest, DentedPolygonsChangeWhatGrazesWallsAlone) {
  int compared = 0;
  ForSeeds(100, [&](Random& random) {
    const std::vector<std::string> rows = RandomRooms(8, 8, 0.15, random);
    MeshSpec spec = DrawRooms(rows, &random);
    const NavMesh mesh = MeshOf(spec);
    for (WorldPoint& vertex : spec.vertices) {
      vertex.x += random.Between(-1, 1) / kFixedScale;
      vertex.y += random.Between(-1, 1) / kFixedScale;
    }
    const NavMesh dented = MeshOf(std::move(spec));
    for (int i = 0; i < 100; ++i) {
      const auto draw = [&] {
        // Along edges between polygons that have been dented, too.
        const WorldPoint position{random.Between(0, 32) / 4.0, random.Between(0, 32) / 4.0};
        return *mesh.FindNearest({position, 8.0, 8.0});
      };
      const MeshPlace start = draw();
      const MeshPlace goal = draw();
      const auto moved = [&](const MeshPlace& place) {
        return MeshPlace{place.polygon, dented.NearestPoint(place.polygon, place.point.x, place.point.y)};
      };
      SCOPED_TRACE(Between(start, goal.point));
      const MeshRayHit expected = CastMeshRay(mesh, start, goal);
      const MeshRayHit hit = CastMeshRay(dented, moved(start), moved(goal));
      if (DistanceOfWallEnds(mesh, start.point, goal.point) < 1e-4) {
        continue;
      }
      ++compared;
      EXPECT_EQ(hit.reaches_goal, expected.reaches_goal);
      EXPECT_EQ(hit.is_blocked, expected.is_blocked);
      EXPECT_NEAR(hit.length, expected.length, 1e-3);
    }
  });
  EXPECT_GT(compared, 1'000);
}

// Places that were rounded to an edge may lie half a unit of rounding outside.
TEST(MeshRayPropertyTest, NothingBehindAWallIsReachedFromPlacesRoundedToIt) {
  ForSeeds(60, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, 1, 6, 6));
    MeshScratch scratch(kRayScratchBytes);
    for (int i = 0; i < 60; ++i) {
      const MeshPlace start = RoundedPlace(mesh, random);
      const MeshPlace goal = RoundedPlace(mesh, random);
      SCOPED_TRACE(Between(start, goal.point));
      const double straight = PlanDistance(start.point, goal.point);
      const MeshRayHit hit = CastMeshRay(mesh, start, goal);
      const MeshSearchReport report = SearchMesh(mesh, {start, goal}, Budget{}, scratch);
      if (hit.reaches_goal) {
        EXPECT_EQ(report.end, SearchEnd::kGoalReached);
        EXPECT_NEAR(report.length, straight, 1e-9);
      } else if (report.end == SearchEnd::kGoalReached && report.length < straight + 1e-9) {
        EXPECT_LT(DistanceOfWallEnds(mesh, start.point, goal.point), 1e-5);
      }
      const MeshSearchReport there = SearchMesh(mesh, {start, hit.end}, Budget{}, scratch);
      ASSERT_EQ(there.end, SearchEnd::kGoalReached);
      EXPECT_NEAR(there.length, hit.length, 1e-5);
    }
  });
}

constexpr std::uint64_t kPolygons = 4000;

// Walks over polygons are counted, and stop where their budget ends.
class PolygonMeterTest : public ::testing::Test {
 protected:
  const NavMesh mesh_ = MeshOf(DrawRooms({std::string(kPolygons, '.')}));
  const MeshPlace start_{0, {0.5, 0.5, 0}};
  // Beyond the wall at the end.
  const WorldPoint target_{kPolygons + 1.0, 0.75, 0};
  Budget budget_;
};

TEST_F(PolygonMeterTest, CountsWhatRaysAndMovesVisit) {
  PolygonMeter meter(budget_);
  EXPECT_EQ(CastMeshRay(mesh_, start_, target_, &meter), CastMeshRay(mesh_, start_, target_));
  EXPECT_EQ(meter.visited(), kPolygons);
  CastMeshRay(mesh_, start_, WorldPoint{1.5, 0.5, 0}, &meter);
  EXPECT_EQ(meter.visited(), kPolygons + 2);
  PolygonMeter of_move(budget_);
  EXPECT_EQ(MoveAlongSurface(mesh_, start_, target_, &of_move), MoveAlongSurface(mesh_, start_, target_));
  EXPECT_EQ(of_move.visited(), kPolygons + kMaxMovePolygons);
  EXPECT_FALSE(meter.end());
}

TEST_F(PolygonMeterTest, StopsWithinAWalkWhereTheBudgetEnds) {
  budget_.max_expansions = 100;
  PolygonMeter limited(budget_);
  CastMeshRay(mesh_, start_, target_, &limited);
  EXPECT_THAT(limited.end(), Optional(Eq(SearchEnd::kExpansionLimit)));
  EXPECT_LE(limited.visited(), 110u);
  EXPECT_FALSE(limited.Visit());

  budget_ = {};
  const std::atomic<bool> yes = true;
  budget_.cancelled = &yes;
  PolygonMeter cancelled(budget_);
  CastMeshRay(mesh_, start_, target_, &cancelled);
  EXPECT_THAT(cancelled.end(), Optional(Eq(SearchEnd::kCancelled)));
  EXPECT_LE(cancelled.visited(), Budget::kPollInterval + 10);
}

TEST_F(PolygonMeterTest, LooksBetweenShortWalksAsWell) {
  const std::atomic<bool> yes = true;
  budget_.cancelled = &yes;
  PolygonMeter meter(budget_);
  while (!meter.end() && meter.visited() < 2 * Budget::kPollInterval) {
    CastMeshRay(mesh_, start_, WorldPoint{3.5, 0.5, 0}, &meter);
  }
  EXPECT_THAT(meter.end(), Optional(Eq(SearchEnd::kCancelled)));
}

}  // namespace
}  // namespace waystar::core
