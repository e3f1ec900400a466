#include "server/core/graph/map/sight_line.h"

#include "gmock/gmock.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/graph_model.h"
#include "tests/testing/slow_sight.h"

namespace waystar::core {
namespace {

bool LineTouches(Point a, Point b, const Shape& shape) { return Touches({ToFixed(a), ToFixed(b)}, shape); }

TEST(SightLineTest, HolesOfPolygonsAreFree) {
  // Around twice: the inner square lies inside two times, and so outside.
  const Shape ring{
      .polygons = {{{{0, 0}, {9, 0}, {9, 9}, {0, 9}, {0, 0}, {3, 3}, {6, 3}, {6, 6}, {3, 6}, {3, 3}}}}};
  EXPECT_FALSE(LineTouches({4, 4}, {5, 5}, ring));
  EXPECT_TRUE(LineTouches({4, 4}, {7, 5}, ring));
  EXPECT_TRUE(LineTouches({1, 2}, {1, 2}, ring));
}

TEST(SightLineTest, AgreesWithTheLongWay) {
  GraphGenerator generator(1, 12);
  int touched = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Shape shape = generator.Shape();
    const WorldPoint a = generator.Position();
    const WorldPoint b = generator.random().Chance(0.05) ? a : generator.Position();
    const bool expected = SlowlyTouches(a, b, shape);
    ASSERT_EQ(Touches({ToFixed(a), ToFixed(b)}, shape), expected) << i;
    ASSERT_EQ(Touches({ToFixed(b), ToFixed(a)}, shape), expected) << i;
    touched += expected ? 1 : 0;
  }
  EXPECT_GT(touched, 2000);
  EXPECT_LT(touched, 18'000);
}

TEST(GridSightTest, EndsAtTheBorder) {
  const GridMap map = DrawMap({"....", ".#..", "...."});
  const GridSight sight(map.walk().rows());
  EXPECT_TRUE(sight.IsFree({0.0, 0.0}, {4.0, 0.0}));
  EXPECT_FALSE(sight.IsFree({0.0, 0.0}, {4.1, 0.0}));
}

TEST(GridSightTest, PlacesCellsByOriginAndSize) {
  const GridMap map = DrawMap({"....", ".#..", "...."});
  const GridSight sight(map.walk().rows(), {-10, 20}, 2.0);
  EXPECT_FALSE(sight.IsFree({-9, 23}, {-3, 23}));
  EXPECT_TRUE(sight.IsFree({-9, 21}, {-3, 21}));
}

TEST(GridSightTest, AgreesWithTheLongWay) {
  GraphGenerator generator(2, 8);
  for (int i = 0; i < 60; ++i) {
    std::vector<std::string> rows(8, std::string(8, '.'));
    for (std::string& row : rows) {
      for (char& cell : row) {
        cell = generator.random().Chance(0.15) ? '#' : '.';
      }
    }
    const GridMap map = DrawMap(rows);
    const GridSight sight(map.walk().rows());
    const GraphModel model{.grid = &map};
    for (int k = 0; k < 60; ++k) {
      const WorldPoint a = generator.Position();
      const WorldPoint b = generator.Position();
      ASSERT_EQ(sight.IsFree(a, b), model.IsClear(a, b)) << a.x << "," << a.y << " " << b.x << "," << b.y;
    }
  }
}

}  // namespace
}  // namespace waystar::core
