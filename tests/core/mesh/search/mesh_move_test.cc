#include "server/core/mesh/search/mesh_move.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/polygons_around.h"
#include "tests/core/mesh/search/sight_graph.h"

namespace waystar::core {
namespace {

TEST(MeshMoveTest, SlidesAlongAWall) {
  MeshSpec spec = DrawRooms({"....", "...."});
  for (WorldPoint& vertex : spec.vertices) {
    vertex.z = 0.5 * vertex.x;
  }
  const NavMesh mesh = MeshOf(std::move(spec));
  const MeshMove move = MoveAlongSurface(mesh, PlaceAt(mesh, 0.5, 1.75, 0.25), {3.5, 2.5});
  EXPECT_TRUE(move.is_blocked);
  EXPECT_EQ(move.end.point, (WorldPoint{3.5, 2, 1.75}));
  EXPECT_EQ(move.wall_normal, (Point{0, -1}));
  // On the wall already.
  EXPECT_EQ(MoveAlongSurface(mesh, PlaceAt(mesh, 0.5, 2, 0.25), {3.5, 2.5}).end, move.end);
}

TEST(MeshMoveTest, GoesIntoAllPolygonsThatHaveTheVertexWhereItBegins) {
  const NavMesh mesh = MeshOf(DrawRooms({"..##",  //
                                         "..##",  //
                                         "##..",  //
                                         "##.."}));
  for (const PolygonNumber polygon : {PlaceAt(mesh, 1.5, 1.5).polygon, PlaceAt(mesh, 2.5, 2.5).polygon}) {
    const MeshPlace vertex{polygon, {2, 2}};
    for (const WorldPoint target : {WorldPoint{1.5, 1.25}, WorldPoint{2.5, 2.25}}) {
      EXPECT_EQ(MoveAlongSurface(mesh, vertex, target), (MeshMove{.end = PlaceAt(mesh, target.x, target.y)}));
    }
    // It slides along the wall of the polygon on the other side.
    const MeshMove slid = MoveAlongSurface(mesh, vertex, {3, 1.75});
    EXPECT_TRUE(slid.is_blocked);
    EXPECT_EQ(slid.end.point.y, 2.0);
    EXPECT_GT(slid.end.point.x, 2.9);
  }
  EXPECT_TRUE(MoveAlongSurface(mesh, PlaceAt(mesh, 1.5, 1.5), {2.5, 2.5}).is_blocked) << "passes through";
}

// What a move may come to: the polygons that are joined to the start within the circle.
class Circle {
 public:
  Circle(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& target)
      : middle_{(start.point.x + target.x) / 2, (start.point.y + target.y) / 2},
        radius_(PlanDistance(start.point, target) / 2),
        joined_(mesh.polygon_count(), false) {
    std::vector<PolygonNumber> parents(mesh.polygon_count());
    std::iota(parents.begin(), parents.end(), PolygonNumber{0});
    const auto root = [&](PolygonNumber polygon) {
      while (parents[polygon] != polygon) {
        polygon = parents[polygon] = parents[parents[polygon]];
      }
      return polygon;
    };
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      const auto corners = mesh.VerticesOf(polygon);
      for (std::size_t k = 0; k < corners.size(); ++k) {
        const PolygonNumber beyond = mesh.NeighboursOf(polygon)[k];
        if (beyond != kNoPolygon &&
            DistanceToSegment(mesh.VertexAt(corners[k]), mesh.VertexAt(corners[(k + 1) % corners.size()]),
                              middle_) <= radius_ - 1e-5) {
          parents[root(polygon)] = root(beyond);
        }
      }
    }
    for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
      joined_[polygon] = root(polygon) == root(start.polygon);
    }
  }

  bool IsInside(const WorldPoint& point, double slack) const {
    return PlanDistance(point, middle_) <= radius_ + slack;
  }
  bool IsJoined(PolygonNumber polygon) const { return joined_[polygon]; }

 private:
  const WorldPoint middle_;
  const double radius_;
  std::vector<bool> joined_;
};

struct MoveCounts {
  int reached = 0;
  int blocked = 0;
  int slid = 0;
};

// Expects that the end lies in the circle, and that no point of many that could be reached is nearer.
void ExpectNearest(const NavMesh& mesh, const MeshPlace& start, const WorldPoint& target, Random& random,
                   MoveCounts& counts) {
  SCOPED_TRACE(Between(start, target));
  const MeshMove move = MoveAlongSurface(mesh, start, target);
  const Circle circle(mesh, start, target);
  const double left = PlanDistance(move.end.point, target);
  EXPECT_TRUE(circle.IsInside(move.end.point, 1e-5));
  EXPECT_TRUE(HaveSharedPart(FindPartsAround(mesh, start), {mesh.PartOf(move.end.polygon)}))
      << "on its floor";
  EXPECT_EQ(mesh.NearestPoint(move.end.polygon, move.end.point.x, move.end.point.y), move.end.point);
  for (PolygonNumber polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    if (!circle.IsJoined(polygon)) {
      continue;
    }
    const auto corners = mesh.VerticesOf(polygon);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const WorldPoint& a = mesh.VertexAt(corners[k]);
      const WorldPoint& b = mesh.VertexAt(corners[(k + 1) % corners.size()]);
      constexpr int kSteps = 32;
      const double shift = random.Between(0, 1000) / 1000.0;
      for (int step = 0; step < kSteps; ++step) {
        const double share = (step + shift) / kSteps;
        const WorldPoint point{a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
        if (circle.IsInside(point, -1e-5)) {
          EXPECT_GE(PlanDistance(point, target), left - 1e-5)
              << polygon << ": " << point.x << " " << point.y << " is nearer";
        }
      }
    }
    if (mesh.Contains(polygon, ToFixed(target))) {
      EXPECT_FALSE(move.is_blocked) << polygon;
    }
  }
  const MeshRayHit ray = CastMeshRay(mesh, start, target);
  EXPECT_LE(left, PlanDistance(ray.end.point, target) + 1e-5);
  if (!ray.is_blocked) {
    EXPECT_FALSE(move.is_blocked);
  }
  if (move.is_blocked) {
    ++counts.blocked;
    counts.slid += PlanDistance(move.end.point, ray.end.point) > 0.01 ? 1 : 0;
    EXPECT_NEAR(std::hypot(move.wall_normal.x, move.wall_normal.y), 1.0, 1e-9);
    // What the wall keeps off comes from the side of the mesh.
    EXPECT_LT(move.wall_normal.x * (target.x - move.end.point.x) +
                  move.wall_normal.y * (target.y - move.end.point.y),
              1e-5);
  } else {
    ++counts.reached;
    EXPECT_LT(left, 1e-5);
    EXPECT_EQ(move.wall_normal, Point{});
  }
}

WorldPoint TargetNear(const MeshPlace& start, Random& random) {
  const double reach = random.Chance(0.5) ? 0.5 : 3.0;
  return Rounded(WorldPoint{start.point.x + reach * random.Between(-1000, 1000) / 1000.0,
                            start.point.y + reach * random.Between(-1000, 1000) / 1000.0, start.point.z});
}

TEST(MeshMovePropertyTest, ComesNearest) {
  MoveCounts counts;
  ForMeshes(60, 2, [&](const NavMesh& mesh, Random& random) {
    for (int i = 0; i < 50; ++i) {
      const MeshPlace start = RandomPlace(mesh, random);
      ExpectNearest(mesh, start, TargetNear(start, random), random, counts);
    }
  });
  EXPECT_GT(counts.reached, static_cast<int>(Rounds(600)));
  EXPECT_GT(counts.blocked, static_cast<int>(Rounds(600)));
  EXPECT_GT(counts.slid, static_cast<int>(Rounds(200)));
}

// An agent that is moved again and again never leaves the mesh or gains distance.
TEST(MeshMovePropertyTest, StepsAddUp) {
  ForSeeds(40, [&](Random& random) {
    const NavMesh mesh = MeshOf(BentFloors(random, 1, 6, 6));
    MeshPlace place = RandomPlace(mesh, random);
    for (int i = 0; i < 20; ++i) {
      const double dx = random.Between(-100, 100) / 1000.0;
      const double dy = random.Between(-100, 100) / 1000.0;
      for (int step = 0; step < 20; ++step) {
        const MeshPlace before = place;
        place = MoveAlongSurface(mesh, place, {place.point.x + dx, place.point.y + dy}).end;
        EXPECT_TRUE(HaveSharedPart(FindPartsAround(mesh, before), {mesh.PartOf(place.polygon)}));
        EXPECT_LE(PlanDistance(before.point, place.point), std::hypot(dx, dy) + 1e-5);
      }
    }
  });
}

}  // namespace
}  // namespace waystar::core
