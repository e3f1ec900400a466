// Holes in navigation meshes: the ground around them stays whole, and paths go round them.

#include "server/core/mesh/map/mesh_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/mesh/map/shape_outlines.h"
#include "tests/core/mesh/search/sight_graph.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kScratchBytes = std::size_t{1} << 28;
// Points that are no further from an outline may be on either side: cuts are rounded.
constexpr double kNearOutline = 1e-4;

// REQUIRES: the shape has outlines.
NavMesh Cut(const NavMesh& mesh, const Shape& shape) {
  const absl::StatusOr<HoleList> holes = HolesOf(shape, {});
  EXPECT_THAT(holes, IsOk());
  absl::StatusOr<NavMesh> cut = ChangeHoles(mesh, {.removed = {}, .added = *holes});
  EXPECT_THAT(cut, IsOk());
  return *std::move(cut);
}

int CountParts(const NavMesh& mesh) {
  std::set<std::uint32_t> parts;
  for (const PolygonNumber polygon : mesh.Polygons()) {
    parts.insert(mesh.PartOf(polygon));
  }
  return static_cast<int>(parts.size());
}

// Returns the length of a shortest path, or infinity.
double Length(const NavMesh& mesh, const WorldPoint& start, const WorldPoint& goal) {
  const auto find = [&](const WorldPoint& point) {
    return mesh.FindNearest({.position = point, .radius = 0.0, .height = 100.0});
  };
  const std::optional<MeshPlace> from = find(start);
  const std::optional<MeshPlace> to = find(goal);
  if (!from || !to) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  MeshScratch scratch(kScratchBytes);
  return LengthOf(mesh, *from, *to, scratch);
}

// How far outside of the outline a point is, or below 0 how deep inside.
double Outside(const ConvexOutline& outline, const WorldPoint& point) {
  double nearest = std::numeric_limits<double>::infinity();
  bool is_inside = true;
  for (std::size_t k = 0; k < outline.size(); ++k) {
    const WorldPoint& a = outline[k];
    const WorldPoint& b = outline[(k + 1) % outline.size()];
    nearest = std::min(nearest, DistanceToSegment(a, b, point));
    is_inside &= (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x) > 0.0;
  }
  return is_inside ? -nearest : nearest;
}

double Outside(const std::vector<ConvexOutline>& outlines, const WorldPoint& point) {
  double least = std::numeric_limits<double>::infinity();
  for (const ConvexOutline& outline : outlines) {
    least = std::min(least, Outside(outline, point));
  }
  return least;
}

NavMesh Square(double side) {
  return MeshOf(DrawMesh({{0, 0, 0}, {side, 0, 0}, {side, side, 0}, {0, side, 0}}, {{0, 1, 2, 3}}));
}

TEST(MeshCutTest, NothingIsLeftUnderAHoleThatCoversAll) {
  const NavMesh cut = Cut(Square(10), {.rectangles = {{-1, -1, 12, 12}}});
  EXPECT_TRUE(cut.Polygons().empty());
  EXPECT_FALSE(cut.FindNearest({.position = {5, 5}, .radius = 100.0, .height = 100.0}).has_value());
}

TEST(MeshCutTest, HolesElsewhereChangeNothing) {
  const NavMesh mesh = Square(10);
  const NavMesh cut = Cut(mesh, {.rectangles = {{11, 0, 5, 5}, {20, 20, 1, 1}}});
  EXPECT_THAT(cut.Polygons(), ElementsAre(0));
}

TEST(MeshCutTest, OnlyPolygonsAtTheHeightsAreCut) {
  MeshSpec spec =
      DrawMesh({{0, 0, 0}, {9, 0, 0}, {9, 9, 0}, {0, 9, 0}, {0, 0, 3}, {9, 0, 3}, {9, 9, 3}, {0, 9, 3}},
               {{0, 1, 2, 3}, {4, 5, 6, 7}});
  const NavMesh mesh = MeshOf(std::move(spec));
  const absl::StatusOr<NavMesh> cut =
      ChangeHoles(mesh, {.removed = {}, .added = *HolesOf({.rectangles = {{3, 3, 3, 3}}}, {2.0, 5.0})});
  ASSERT_THAT(cut, IsOk());
  EXPECT_EQ(AreaOf(*cut), 81.0 + 72.0);
  EXPECT_NEAR(Length(*cut, {1, 4.5, 0}, {8, 4.5, 0}), 7.0, 1e-12);
  EXPECT_GT(Length(*cut, {1, 4.5, 3}, {8, 4.5, 3}), 7.0);
}

TEST(MeshCutTest, HeightsAreThoseOfFinerGround) {
  MeshSpec spec = DrawMesh({{0, 0, 0}, {9, 0, 0}, {9, 9, 0}, {0, 9, 0}}, {{0, 1, 2, 3}});
  // A hill, 9 high at x = 4.5.
  const std::vector<DetailPoint> points = {{0, 0, 0}, {9, 0, 0},   {9, 9, 0},
                                           {0, 9, 0}, {4.5, 0, 9}, {4.5, 9, 9}};
  spec.detail.Add(points, std::vector<DetailTriangle>{{0, 4, 5}, {0, 5, 3}, {4, 1, 2}, {4, 2, 5}});
  const NavMesh mesh = MeshOf(std::move(spec));
  const absl::StatusOr<NavMesh> cut =
      ChangeHoles(mesh, {.removed = {}, .added = *HolesOf({.rectangles = {{3, 3, 3, 3}}}, {8.0, 10.0})});
  ASSERT_THAT(cut, IsOk());
  EXPECT_EQ(AreaOf(*cut), 72.0);
  for (const PolygonNumber piece : cut->Polygons()) {
    for (const std::uint32_t vertex : cut->VerticesOf(piece)) {
      const WorldPoint& point = cut->VertexAt(vertex);
      EXPECT_NEAR(point.z, 9.0 - 2.0 * std::abs(4.5 - point.x), 1e-6);
    }
  }
}

TEST(MeshCutTest, LinesAreThinWalls) {
  const NavMesh cut = Cut(Square(10), {.lines = {{.start = {5, -1}, .end = {5, 8}}}});
  EXPECT_NEAR(Length(cut, {4, 0}, {6, 0}), 2.0 * std::sqrt(65.0), 0.01);
}

TEST(MeshCutTest, DiscsHaveSixteenSides) {
  const NavMesh cut = Cut(Square(10), {.discs = {{.center = {5, 5}, .radius = 2.0}}});
  // The circumscribed polygon.
  EXPECT_NEAR(AreaOf(cut), 100.0 - 16.0 * 4.0 * std::tan(std::numbers::pi / 16.0), 1e-4);
  // Lines to the first and the last of three corners, and the sides between them.
  const double radius = 2.0 / std::cos(std::numbers::pi / 16.0);
  const double turn = 3.0 * std::numbers::pi / 8.0;
  const double line = std::hypot(4.0 - radius * std::cos(turn), radius * std::sin(turn));
  const double side = 4.0 * std::tan(std::numbers::pi / 16.0);
  EXPECT_NEAR(Length(cut, {1, 5}, {9, 5}), 2.0 * (line + side), 1e-4);
}

TEST(MeshCutTest, ConcavePolygonsAreCutAsTheyAre) {
  // A horseshoe that is open to the right.
  const Shape shape = {
      .polygons = {{.vertices = {{2, 2}, {8, 2}, {8, 3}, {3, 3}, {3, 7}, {8, 7}, {8, 8}, {2, 8}}}}};
  const NavMesh cut = Cut(Square(10), shape);
  EXPECT_NEAR(AreaOf(cut), 100.0 - 16.0, 1e-9);
  EXPECT_NEAR(Length(cut, {4, 5}, {9.5, 5}), 5.5, 1e-12);
}

TEST(MeshCutTest, SliversLeaveNoWallBesideThem) {
  const NavMesh mesh =
      MeshOf(DrawMesh({{0, 0, 0}, {10, 0, 0}, {10, 10, 0}, {0, 10, 0}}, {{0, 1, 2}, {0, 2, 3}}));
  // A side along the diagonal that crosses it, and leaves slivers between.
  const Shape shape = {.polygons = {{.vertices = {{2, 2 + 0x1p-20}, {7, 7 - 15 * 0x1p-20}, {8.28, 9}}}}};
  const NavMesh cut = Cut(mesh, shape);
  EXPECT_EQ(CountParts(cut), 1);
  EXPECT_NEAR(Length(cut, {1.5, 0.5}, {0.5, 1.5}), std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(Length(cut, {9.5, 9}, {9, 9.5}), std::sqrt(0.5), 1e-9);
}

TEST(MeshCutTest, RefusesPolygonsThatCrossThemselves) {
  const Shape bow = {.polygons = {{.vertices = {{0, 0}, {4, 4}, {4, 0}, {0, 3}}}}};
  EXPECT_THAT(OutlinesOf(bow),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadPolygon, ".polygons[0]"));
  const Shape touching = {.polygons = {{.vertices = {{0, 0}, {4, 0}, {2, 2}, {4, 4}, {0, 4}, {2, 2}}}}};
  EXPECT_THAT(OutlinesOf(touching),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadPolygon, ".polygons[0]"));
}

// Cells and rectangles that are cut out of rooms are the same as rooms without them.
TEST(MeshCutPropertyTest, CutCellsAreAsIfTheyHadNotBeenDrawn) {
  int paths = 0;
  ForSeeds(300, [&](Random& random) {
    std::vector<std::string> rows = RandomRooms(random);
    const NavMesh mesh = MeshOf(DrawRooms(rows, &random));
    const int width = static_cast<int>(rows[0].size());
    const int height = static_cast<int>(rows.size());
    Shape shape;
    for (int i = random.Between(1, 6); i > 0; --i) {
      const Rectangle rectangle = {random.Between(0, width - 1), random.Between(0, height - 1),
                                   random.Between(1, 3), random.Between(1, 3)};
      if (rectangle.width == 1 && rectangle.height == 1) {
        shape.cells.push_back({rectangle.x, rectangle.y});
      } else {
        shape.rectangles.push_back(rectangle);
      }
      for (int y = rectangle.y; y < std::min(rectangle.y + rectangle.height, height); ++y) {
        for (int x = rectangle.x; x < std::min(rectangle.x + rectangle.width, width); ++x) {
          rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = '#';
        }
      }
    }
    const NavMesh cut = Cut(mesh, shape);
    const auto is_free = [](const std::string& row) { return row.find('.') != std::string::npos; };
    if (std::none_of(rows.begin(), rows.end(), is_free)) {
      EXPECT_TRUE(cut.Polygons().empty());
      return;
    }
    const NavMesh drawn = MeshOf(DrawRooms(rows));
    EXPECT_EQ(AreaOf(cut), AreaOf(drawn));
    EXPECT_EQ(CountParts(cut), CountParts(drawn));
    for (int i = 0; i < 30; ++i) {
      const WorldPoint start = RandomPlace(drawn, random).point;
      const WorldPoint goal = RandomPlace(drawn, random).point;
      // Corners and edges belong to several polygons, which may be of different parts.
      const auto is_inner = [](const WorldPoint& point) {
        return point.x != std::floor(point.x) && point.y != std::floor(point.y);
      };
      if (!is_inner(start) || !is_inner(goal)) {
        continue;
      }
      const double length = Length(drawn, start, goal);
      paths += std::isfinite(length) ? 1 : 0;
      const double after = Length(cut, start, goal);
      EXPECT_TRUE(length == after || std::abs(length - after) <= 1e-9) << length << " and " << after;
    }
  });
  EXPECT_GT(paths, static_cast<int>(Rounds(500)));
}

Point RandomPoint(Random& random) {
  return {random.Between(-1000, 8000) / 1000.0, random.Between(-1000, 8000) / 1000.0};
}

Shape RandomShape(Random& random) {
  Shape shape;
  for (int i = random.Between(1, 6); i > 0; --i) {
    switch (random.Between(0, 3)) {
      case 0:
        shape.discs.push_back({RandomPoint(random), random.Between(0, 2000) / 1000.0});
        break;
      case 1:
        shape.lines.push_back({RandomPoint(random), RandomPoint(random), random.Between(0, 1000) / 1000.0});
        break;
      case 2:
        shape.rectangles.push_back(
            {random.Between(-1, 7), random.Between(-1, 7), random.Between(1, 3), random.Between(1, 3)});
        break;
      default:
        shape.polygons.push_back({{RandomPoint(random), RandomPoint(random), RandomPoint(random)}});
    }
  }
  return shape;
}

// Expects that points of the mesh are on the cut one exactly where no outline is, and in the same polygon.
void ExpectSameGround(const NavMesh& mesh, const NavMesh& cut, const std::vector<ConvexOutline>& outlines,
                      Random& random) {
  std::vector<MeshPlace> before;
  std::vector<MeshPlace> after;
  for (int i = 0; i < 200; ++i) {
    const Point at = RandomPoint(random);
    const WorldPoint point{at.x, at.y, 0.0};
    const double outside = Outside(outlines, point);
    if (std::abs(outside) < kNearOutline) {
      continue;
    }
    const MeshReach reach{point, 0.0, 1000.0};
    before.clear();
    after.clear();
    mesh.FindAllNear(reach, before);
    cut.FindAllNear(reach, after);
    std::vector<PolygonNumber> expected;
    for (const MeshPlace& place : before) {
      if (outside > 0.0) {
        expected.push_back(place.polygon);
      }
    }
    std::vector<PolygonNumber> found;
    for (const MeshPlace& place : after) {
      found.push_back(cut.WholeOf(place.polygon));
    }
    found.erase(std::unique(found.begin(), found.end()), found.end());
    EXPECT_EQ(found, expected) << point.x << " " << point.y;
  }
}

// Expects that each wall of the cut mesh lies on a wall of the mesh or on an outline.
void ExpectNoOtherWalls(const NavMesh& mesh, const NavMesh& cut, const std::vector<ConvexOutline>& outlines) {
  std::vector<std::pair<WorldPoint, WorldPoint>> walls;
  ForEachWall(mesh, [&](const WorldPoint& a, const WorldPoint& b) { walls.emplace_back(a, b); });
  for (const ConvexOutline& outline : outlines) {
    for (std::size_t k = 0; k < outline.size(); ++k) {
      walls.emplace_back(outline[k], outline[(k + 1) % outline.size()]);
    }
  }
  ForEachWall(cut, [&](const WorldPoint& a, const WorldPoint& b) {
    const auto is_on = [&](const std::pair<WorldPoint, WorldPoint>& wall) {
      return DistanceToSegment(wall.first, wall.second, a) <= kNearOutline &&
             DistanceToSegment(wall.first, wall.second, b) <= kNearOutline;
    };
    EXPECT_TRUE(std::any_of(walls.begin(), walls.end(), is_on))
        << a.x << " " << a.y << " to " << b.x << " " << b.y;
  });
}

void ExpectRight(const NavMesh& mesh, const Shape& shape, Random& random) {
  const std::vector<ConvexOutline> outlines = *OutlinesOf(shape);
  const NavMesh cut = Cut(mesh, shape);
  ExpectSameGround(mesh, cut, outlines, random);
  ExpectNoOtherWalls(mesh, cut, outlines);
}

TEST(MeshCutPropertyTest, WidenedOutlinesAreThatMuchWider) {
  ForSeeds(300, [](Random& random) {
    const Shape shape = RandomShape(random);
    const double widening = random.Between(1, 2000) / 1000.0;
    const std::vector<ConvexOutline> outlines = *OutlinesOf(shape);
    const std::vector<ConvexOutline> widened = *OutlinesOf(shape, widening);
    for (int i = 0; i < 100; ++i) {
      const Point at = RandomPoint(random);
      const double outside = Outside(outlines, {at.x, at.y, 0.0});
      // Discs are polygons that reach up to 2 % further.
      if (outside < widening - kNearOutline) {
        EXPECT_LT(Outside(widened, {at.x, at.y, 0.0}), kNearOutline) << at.x << " " << at.y;
      } else if (outside > 1.02 * widening + 0.02) {
        EXPECT_GT(Outside(widened, {at.x, at.y, 0.0}), 0.0) << at.x << " " << at.y;
      }
    }
  });
}

TEST(MeshCutPropertyTest, GroundIsLeftWhereNoOutlineIs) {
  ForMeshes(750, 3,
            [](const NavMesh& mesh, Random& random) { ExpectRight(mesh, RandomShape(random), random); });
}

// A random edge, and places near the line through it.
class RandomEdge {
 public:
  RandomEdge(const NavMesh& mesh, Random& random) : random_(random) {
    const auto polygon =
        static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1));
    const auto loop = mesh.VerticesOf(polygon);
    const auto k = static_cast<std::size_t>(random.Between(0, static_cast<int>(loop.size()) - 1));
    a_ = mesh.VertexAt(loop[k]);
    b_ = mesh.VertexAt(loop[(k + 1) % loop.size()]);
  }

  // Returns a place that misses the line by up to 16 times 2^-20 units.
  Point PlaceNearby() {
    const double share = random_.Between(-300, 1300) / 1000.0;
    return {a_.x + share * (b_.x - a_.x) + Miss(), a_.y + share * (b_.y - a_.y) + Miss()};
  }
  // Returns a point at a distance of the line, on either side.
  Point Beside(const Point& place) {
    const double length = std::hypot(b_.x - a_.x, b_.y - a_.y);
    const double across = (random_.Chance(0.5) ? 1 : -1) * random_.Between(100, 2000) / 1000.0 / length;
    return {place.x - across * (b_.y - a_.y), place.y + across * (b_.x - a_.x)};
  }

 private:
  double Miss() { return random_.Chance(0.3) ? 0.0 : random_.Between(-16, 16) * 0x1p-20; }

  Random& random_;
  WorldPoint a_;
  WorldPoint b_;
};

// A shape with sides along edges of the mesh that miss them by little.
Shape ShapeAlongEdges(const NavMesh& mesh, Random& random) {
  Shape shape = random.Chance(0.5) ? RandomShape(random) : Shape();
  for (int i = random.Between(1, 6); i > 0; --i) {
    RandomEdge edge(mesh, random);
    const Point a = edge.PlaceNearby();
    const Point b = edge.PlaceNearby();
    // Where sides meet at a very acute angle, cuts reach further from the corner.
    if (std::hypot(b.x - a.x, b.y - a.y) < 0.1) {
      continue;
    }
    const Point beside = edge.Beside(a);
    if (random.Chance(0.5)) {
      shape.polygons.push_back({{a, b, beside}});
    } else {
      shape.polygons.push_back({{a, b, {b.x + beside.x - a.x, b.y + beside.y - a.y}, beside}});
    }
  }
  return shape;
}

TEST(MeshCutPropertyTest, SidesThatMissAnEdgeByLittleLeaveNoOtherWalls) {
  ForSeeds(3000, [&](Random& random) {
    const NavMesh mesh =
        MeshOf(random.Chance(0.7) ? BentFloors(random, 1, 1) : DrawRooms(RandomRooms(random), &random));
    ExpectRight(mesh, ShapeAlongEdges(mesh, random), random);
  });
}

TEST(MeshCutPropertyTest, PathsAmongHolesAreShortest) {
  int paths = 0;
  ForSeeds(150, [&](Random& random) {
    const NavMesh mesh = MeshOf(DrawRooms(RandomRooms(random), &random));
    const NavMesh cut = Cut(mesh, RandomShape(random));
    if (cut.Polygons().empty()) {
      return;
    }
    const SightGraph oracle(cut);
    MeshScratch scratch(kScratchBytes);
    for (int i = 0; i < 20; ++i) {
      const MeshPlace start = RandomPlace(cut, random);
      const MeshPlace goal = RandomPlace(cut, random);
      const double length = LengthOf(cut, start, goal, scratch);
      const double expected = oracle.Length(start, goal);
      ASSERT_EQ(std::isfinite(length), std::isfinite(expected));
      if (std::isfinite(expected)) {
        EXPECT_NEAR(length, expected, 1e-5);
        ++paths;
      }
    }
  });
  EXPECT_GT(paths, static_cast<int>(Rounds(500)));
}

// Heights of one storey of DrawStoreys, and of the ends of ramps there; or of all.
HeightRange RandomStorey(int storeys, Random& random) {
  const int storey = random.Between(0, storeys);
  return storey == storeys ? HeightRange() : HeightRange{4.0 * storey - 0.5, 4.0 * storey + 0.5};
}

// Expects that a search finds a path of that length, or none if it is infinity. Counts it if its ends are on
// different storeys.
void ExpectLength(const NavMesh& mesh, const MeshPlace& start, const MeshPlace& goal, double expected,
                  MeshScratch& scratch, int& climbs) {
  const double length = LengthOf(mesh, start, goal, scratch);
  ASSERT_EQ(std::isfinite(length), std::isfinite(expected)) << Between(start, goal.point);
  if (std::isfinite(expected)) {
    EXPECT_NEAR(length, expected, 1e-9) << Between(start, goal.point);
    climbs += std::abs(start.point.z - goal.point.z) > 3.5 ? 1 : 0;
  }
}

// Expects the lengths of a visibility graph of the mesh, for some random places.
void ExpectShortestPaths(const NavMesh& mesh, Random& random, int& climbs) {
  if (mesh.Polygons().empty()) {
    return;
  }
  const SightGraph oracle(mesh);
  MeshScratch scratch(kScratchBytes);
  for (int i = 0; i < 25; ++i) {
    const MeshPlace start = RandomPlace(mesh, random);
    const MeshPlace goal = RandomPlace(mesh, random);
    ExpectLength(mesh, start, goal, oracle.Length(start, goal), scratch, climbs);
  }
}

std::vector<std::vector<std::string>> RandomStoreys(Random& random) {
  std::vector<std::vector<std::string>> storeys(static_cast<std::size_t>(random.Between(2, 3)));
  const double walls = random.Between(0, 3) / 10.0;
  for (std::vector<std::string>& rows : storeys) {
    rows = RandomRooms(6, 5, walls, random);
  }
  return storeys;
}

// Rectangles that are cut out of single storeys are the same as storeys without those squares, whose shortest
// paths are judged without any cut.
TEST(MeshCutPropertyTest, PathsAcrossStoreysAreThoseWithoutTheSquares) {
  int climbs = 0;
  ForSeeds(150, [&](Random& random) {
    std::vector<std::vector<std::string>> storeys = RandomStoreys(random);
    NavMesh cut = MeshOf(DrawStoreys(storeys));
    for (int i = random.Between(1, 6); i > 0; --i) {
      const HeightRange heights = RandomStorey(static_cast<int>(storeys.size()), random);
      const Rectangle rectangle = {random.Between(0, 3), random.Between(0, 4), random.Between(1, 3), 1};
      cut = *ChangeHoles(cut, {.removed = {}, .added = *HolesOf({.rectangles = {rectangle}}, heights)});
      for (std::size_t k = 0; k < storeys.size(); ++k) {
        const double z = 4.0 * static_cast<double>(k);
        for (int x = rectangle.x; x < rectangle.x + rectangle.width; ++x) {
          if (heights.low <= z && z <= heights.high) {
            storeys[k][static_cast<std::size_t>(rectangle.y)][static_cast<std::size_t>(x)] = '#';
          }
        }
      }
    }
    const NavMesh drawn = MeshOf(DrawStoreys(storeys));
    const SightGraph oracle(drawn);
    MeshScratch scratch(kScratchBytes);
    for (int i = 0; i < 30; ++i) {
      const MeshPlace start = RandomPlace(drawn, random);
      const MeshPlace goal = RandomPlace(drawn, random);
      // Corners and edges belong to several polygons, which may be of different parts.
      const auto is_inner = [](const WorldPoint& point) {
        return point.x != std::floor(point.x) && point.y != std::floor(point.y);
      };
      if (is_inner(start.point) && is_inner(goal.point)) {
        const std::optional<MeshPlace> from = cut.FindNearest({start.point, 0.0, 0.1});
        const std::optional<MeshPlace> to = cut.FindNearest({goal.point, 0.0, 0.1});
        ASSERT_TRUE(from && to);
        ExpectLength(cut, *from, *to, oracle.Length(start, goal), scratch, climbs);
      }
    }
  });
  EXPECT_GT(climbs, static_cast<int>(Rounds(200)));
}

TEST(MeshCutPropertyTest, PathsAmongHolesOfStoreysAreShortest) {
  int climbs = 0;
  ForSeeds(100, [&](Random& random) {
    const std::vector<std::vector<std::string>> storeys = RandomStoreys(random);
    NavMesh cut = MeshOf(DrawStoreys(storeys));
    for (int i = random.Between(1, 3); i > 0; --i) {
      const HeightRange heights = RandomStorey(static_cast<int>(storeys.size()), random);
      cut = *ChangeHoles(cut, {.removed = {}, .added = *HolesOf(RandomShape(random), heights)});
    }
    ExpectShortestPaths(cut, random, climbs);
  });
  EXPECT_GT(climbs, static_cast<int>(Rounds(100)));
}

// Holes that end at an edge between heights split it, though there may be ground on both of its sides.
TEST(MeshCutPropertyTest, PathsAmongHolesOfSomeHeightsOfASlopeAreShortest) {
  int climbs = 0;
  ForSeeds(300, [&](Random& random) {
    MeshSpec spec = DrawRooms(RandomRooms(random), &random);
    for (WorldPoint& vertex : spec.vertices) {
      vertex.z = vertex.y;
    }
    Shape shape;
    for (int i = random.Between(1, 5); i > 0; --i) {
      shape.cells.push_back({random.Between(0, 8), random.Between(0, 8)});
    }
    const HeightRange heights = {random.Between(0, 8) + 0.5, 10.0};
    const NavMesh cut =
        *ChangeHoles(MeshOf(std::move(spec)), {.removed = {}, .added = *HolesOf(shape, heights)});
    ExpectShortestPaths(cut, random, climbs);
  });
  EXPECT_GT(climbs, static_cast<int>(Rounds(200)));
}

}  // namespace
}  // namespace waystar::core
