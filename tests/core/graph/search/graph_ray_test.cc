#include "server/core/graph/search/graph_ray.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/sight_line.h"
#include "tests/core/graph/search/random_graphs.h"
#include "tests/testing/drawn_map.h"

namespace waystar::core {
namespace {

WaypointGraph GraphWith(std::vector<Obstacle> obstacles, std::shared_ptr<const GridSight> grid = nullptr) {
  return GraphOf({.auto_connect = AutoConnect{10, std::move(grid)}, .obstacles = std::move(obstacles)});
}

GraphRayHit Cast(const WaypointGraph& graph, const WorldPoint& from, const WorldPoint& to) {
  absl::StatusOr<GraphRayHit> hit = CastGraphRay(graph, from, to);
  EXPECT_EQ(hit.status(), absl::OkStatus());
  return hit.ok() ? *hit : GraphRayHit();
}

// A ray's hit as text: "free", or what is touched and at what fraction.
std::string TextOf(const GraphRayHit& hit) {
  return hit.is_blocked ? absl::StrCat(hit.obstacle.empty() ? "grid" : hit.obstacle, " ", hit.fraction)
                        : "free";
}

TEST(GraphRayTest, TouchesEachKindOfShapeWhereItBegins) {
  const std::vector<std::pair<Shape, double>> shapes = {
      {{.cells = {{4, 0}}}, 0.4},
      {{.rectangles = {{2, -3, 1, 9}}}, 0.2},
      {{.discs = {{{5, 0}, 2}}}, 0.3},
      {{.discs = {{{5, 4}, 5}}}, 0.2},
      // Grazed.
      {{.discs = {{{5, 2}, 2}}}, 0.5},
      {{.polygons = {{{{6, -1}, {8, -1}, {7, 3}}}}}, 0.625},
      {{.polygons = {{{{6, 0}, {9, 4}, {3, 4}}}}}, 0.6},
      // Two gaps and two prongs.
      {{.polygons = {{{{9, -1}, {9, 2}, {3, 2}, {3, -1}, {4, -1}, {4, 1}, {8, 1}, {8, -1}}}}}, 0.3},
      {{.lines = {{{3, -1}, {5, 1}}}}, 0.4},
      {{.lines = {{{6, 0}, {8, 0}}}}, 0.6},
      {{.lines = {{{8, 0}, {6, 0}, 1}}}, 0.55},
      {{.lines = {{{6, -4}, {6, 4}, 2}}}, 0.5},
      {{.lines = {{{6, 1}, {9, 1}, 2}}}, 0.6},
      {{.lines = {{{6, 0}, {6, 0}, 2}}}, 0.5}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const WaypointGraph graph = GraphWith({{.id = "it", .shape = shapes[i].first}});
    const GraphRayHit hit = Cast(graph, {0, 0, 5}, {10, 0, 15});
    EXPECT_TRUE(hit.is_blocked) << i;
    EXPECT_EQ(hit.obstacle, "it") << i;
    EXPECT_NEAR(hit.fraction, shapes[i].second, 1e-12) << i;
    EXPECT_NEAR(hit.position.x, 10 * shapes[i].second, 2 / kFixedScale) << i;
    EXPECT_EQ(hit.position.y, 0) << i;
    EXPECT_NEAR(hit.position.z, 5 + 10 * shapes[i].second, 2 / kFixedScale) << i;
  }
}

TEST(GraphRayTest, AFreeRayEndsAtItsEnd) {
  const WaypointGraph graph = GraphWith({{.id = "o", .shape = {.discs = {{{5, 3}, 2.5}}}}});
  const GraphRayHit hit = Cast(graph, {0, 0, 1}, {10, 0, 2});
  EXPECT_EQ(hit, (GraphRayHit{.position = {10, 0, 2}}));
}

TEST(GraphRayTest, NamesTheSmallestIdOfThoseAtOnePlace) {
  const Shape far{.discs = {{{7, 0}, 3}}};
  const Shape near{.rectangles = {{3, -1, 1, 2}}};
  const Shape same{.discs = {{{4, 0}, 1}}};
  const auto first = [&](const std::vector<std::pair<std::string, Shape>>& named) {
    std::vector<Obstacle> obstacles;
    for (const auto& [id, shape] : named) {
      obstacles.push_back({.id = id, .shape = shape});
    }
    return Cast(GraphWith(obstacles), {0, 0}, {10, 0}).obstacle;
  };
  EXPECT_EQ(first({{"a", far}, {"b", near}, {"c", same}}), "b");
  EXPECT_EQ(first({{"c", same}, {"b", near}, {"a", far}}), "b");
  EXPECT_EQ(first({{"a", far}, {"c", near}, {"b", same}}), "b");
}

TEST(GraphRayTest, StopsAtCellsOfTheReferenceGrid) {
  const GridMap map = DrawMap({".....", "..#..", "....."});
  const auto grid = std::make_shared<GridSight>(map.walk().rows());
  const WaypointGraph graph = GraphWith({}, grid);
  EXPECT_EQ(TextOf(Cast(graph, {0, 1.5}, {4, 1.5})), "grid 0.5");
  EXPECT_EQ(TextOf(Cast(graph, {0, 0.75}, {4, 0.75})), "free");
  // The grid's own border.
  EXPECT_EQ(TextOf(Cast(graph, {0, 0.5}, {10, 0.5})), "grid 0.5");
  EXPECT_EQ(TextOf(Cast(graph, {-1, 0.5}, {3, 0.5})), "grid 0");
  EXPECT_EQ(TextOf(Cast(graph, {0, 0.5}, {5, 0.5})), "free");
  // An obstacle at the same place is the one that is named.
  EXPECT_EQ(TextOf(Cast(GraphWith({{.id = "o", .shape = {.cells = {{2, 1}}}}}, grid), {0, 1.5}, {4, 1.5})),
            "o 0.5");
}

TEST(GraphRayTest, PlacesTheReferenceGridByOriginAndSize) {
  const GridMap map = DrawMap({"...", "..#"});
  const WaypointGraph graph =
      GraphWith({}, std::make_shared<GridSight>(map.walk().rows(), Point{-10, 20}, 2.0));
  EXPECT_EQ(TextOf(Cast(graph, {-10, 23}, {-2, 23})), "grid 0.5");
  EXPECT_EQ(TextOf(Cast(graph, {-10, 21}, {-4, 21})), "free");
}

TEST(GraphRayTest, RefusesPositionsOutOfRange) {
  const WaypointGraph graph = GraphWith({});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Told(CastGraphRay(graph, {kNan, 0}, {}).status()), "BAD_VALUE from.position.x");
  EXPECT_EQ(Told(CastGraphRay(graph, {}, {0, 0, 1e9}).status()), "BAD_VALUE to.position.z");
}

// The judge walks the line in steps that are exact, and looks at each point by itself.
class WalkedRayTest : public ::testing::Test {
 protected:
  static constexpr int kSteps = 1 << 12;

  static bool IsOn(const WaypointGraph& graph, const WorldPoint& point) {
    return !graph.sight().IsClear(point, point);
  }

  // Whether a thing is on the points at most `reach` from the given one along each axis.
  template <typename Touching>
  static bool IsNear(const WorldPoint& point, const Touching& touches) {
    constexpr int kReach = 4;
    for (int i = -kReach; i <= kReach; ++i) {
      const double y = point.y + i / kFixedScale;
      const double reach = kReach / kFixedScale;
      if (touches(WorldPoint{point.x - reach, y}, WorldPoint{point.x + reach, y})) {
        return true;
      }
    }
    return false;
  }

  static void Judge(const WaypointGraph& graph, const WorldPoint& from, const WorldPoint& to) {
    const GraphRayHit hit = Cast(graph, from, to);
    ASSERT_EQ(hit.is_blocked, !graph.sight().IsClear(from, to));
    if (!hit.is_blocked) {
      return;
    }
    for (int i = 0; i <= kSteps && i < hit.fraction * kSteps - 1e-6; ++i) {
      const double part = static_cast<double>(i) / kSteps;
      ASSERT_FALSE(IsOn(graph, {from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)}))
          << i << " of " << hit.fraction;
    }
    ASSERT_NEAR(hit.position.x, from.x + hit.fraction * (to.x - from.x), 1 / kFixedScale);
    ASSERT_NEAR(hit.position.y, from.y + hit.fraction * (to.y - from.y), 1 / kFixedScale);
    ASSERT_NEAR(hit.position.z, from.z + hit.fraction * (to.z - from.z), 1 / kFixedScale);
    if (hit.obstacle.empty()) {
      ASSERT_TRUE(IsNear(hit.position, [&](const WorldPoint& a, const WorldPoint& b) {
        return !graph.sight().grid()->IsFree(a, b);
      }));
    } else {
      const std::shared_ptr<const Obstacle> obstacle = graph.sight().obstacles().Find(hit.obstacle);
      ASSERT_NE(obstacle, nullptr);
      ASSERT_TRUE(IsNear(hit.position, [&](const WorldPoint& a, const WorldPoint& b) {
        return Touches(Segment{ToFixed(a), ToFixed(b)}, obstacle->shape);
      })) << hit.obstacle;
    }
  }
};

TEST_F(WalkedRayTest, AgreesWithTheJudge) {
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    GraphGenerator generator(seed, 12);
    std::vector<Obstacle> obstacles;
    for (int i = generator.random().Between(0, 6); i >= 0; --i) {
      obstacles.push_back({.id = absl::StrCat("o", i), .shape = generator.Shape()});
    }
    std::vector<std::string> rows(12, std::string(12, '.'));
    for (int i = generator.random().Between(0, 20); i > 0; --i) {
      rows[generator.random().Between(0, 11)][generator.random().Between(0, 11)] = '#';
    }
    const GridMap map = DrawMap(rows);
    const WaypointGraph graph =
        GraphWith(obstacles, seed % 2 == 0 ? std::make_shared<GridSight>(map.walk().rows()) : nullptr);
    for (int i = 0; i < 60; ++i) {
      const WorldPoint from = generator.Position();
      WorldPoint to = generator.Position();
      if (i % 4 == 0) {
        to.y = from.y;
      } else if (i % 4 == 1) {
        to.x = from.x;
      } else if (i % 4 == 2) {
        to.y = from.y + to.x - from.x;
      }
      ASSERT_NO_FATAL_FAILURE(Judge(graph, from, to))
          << seed << ": (" << from.x << ", " << from.y << ") to (" << to.x << ", " << to.y << ")";
    }
  }
}

}  // namespace
}  // namespace waystar::core
