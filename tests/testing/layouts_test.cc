#include "tests/testing/layouts.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"

namespace waystar {
namespace {

using core::GridMap;

GridMap Field(int width, int height) { return *GridMap::Create(width, height, {}); }

TEST(LayoutsTest, MazeIsOfOnePiece) {
  for (const int width : {1, 2, 3}) {
    Random random(5);
    GridMap map = Field(67, 41);
    LayMaze(random, width, 0.0, map);
    const Oracle oracle(map, core::CornerRule::kNoCornerCutting, {0, 0});
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        ASSERT_EQ(oracle.CostTo({x, y}).has_value(), map.IsWalkable({x, y})) << x << ", " << y;
      }
    }
    EXPECT_GT(map.obstacle_cells(), 0);
  }
}

TEST(LayoutsTest, CorridorOfOneLegIsStraight) {
  Random random(2);
  GridMap map = Field(30, 30);
  LayCorridor(random, 1, 1, map);
  EXPECT_GE(map.walkable_cells(), 1);
  EXPECT_LE(map.walkable_cells(), 30);
}

TEST(LayoutsTest, WhatLayThereBeforeIsForgotten) {
  GridMap empty = Field(70, 20);
  GridMap full = *GridMap::Create(70, 20, {}, 0, true);
  const auto same = [&](auto lay) {
    Random first(3);
    Random second(3);
    lay(first, empty);
    lay(second, full);
    return DrawPath(empty, {}) == DrawPath(full, {});
  };
  EXPECT_TRUE(same([](Random& random, GridMap& map) { LayNoise(random, 0.3, map); }));
  EXPECT_TRUE(same([](Random& random, GridMap& map) { LayRooms(random, 5, 0.2, map); }));
  EXPECT_TRUE(same([](Random& random, GridMap& map) { LayMaze(random, 2, 0.2, map); }));
  EXPECT_TRUE(same([](Random& random, GridMap& map) { LayCaves(random, 3, map); }));
  EXPECT_TRUE(same([](Random& random, GridMap& map) { LayField(random, 3, map); }));
  EXPECT_TRUE(same([](Random& random, GridMap& map) { LayCorridor(random, 2, 5, map); }));
  EXPECT_TRUE(same([](Random& random, GridMap& map) { LayIslands(random, 20, 4, map); }));
}

TEST(GeneratorTest, KeepsToTheSpec) {
  int long_and_thin = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const GridMap map = Generator(seed).Map({.max_side = 140, .max_cells = 1000});
    ASSERT_LE(std::max(map.width(), map.height()), 140);
    ASSERT_LE(map.width() * map.height(), 1000);
    long_and_thin += map.width() >= 126 ? 1 : 0;
  }
  EXPECT_GT(long_and_thin, 10);
}

TEST(GeneratorTest, SameSeedSameMap) {
  const auto draw = [](std::uint64_t seed) { return DrawPath(Generator(seed).Map({.weighted = true}), {}); };
  EXPECT_EQ(draw(11), draw(11));
  EXPECT_NE(draw(11), draw(12));
}

}  // namespace
}  // namespace waystar
