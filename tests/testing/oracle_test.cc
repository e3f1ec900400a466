#include "tests/testing/oracle.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/drawn_map.h"

namespace waystar {
namespace {

using core::Cell;
using core::CornerRule;
using core::GridMap;
using core::kSqrt2;

TEST(OracleFootprintTest, StandsWhereAllItsCellsAreWalkable) {
  const GridMap map = DrawMap({"...#",  //
                               "....",  //
                               "...."});
  EXPECT_TRUE(CanStand(map, {0, 0}, 3));
  EXPECT_TRUE(CanStand(map, {1, 0}, 2));
  EXPECT_FALSE(CanStand(map, {2, 0}, 2)) << "an obstacle";
  EXPECT_FALSE(CanStand(map, {1, 0}, 3)) << "an obstacle";
  EXPECT_FALSE(CanStand(map, {3, 1}, 2)) << "sticks out of the map";
  EXPECT_FALSE(CanStand(map, {-1, 0}, 1));
}

TEST(OracleFootprintTest, GapIsTooNarrowForTwoCells) {
  const GridMap map = DrawMap({"..#..",  //
                               ".....",  //
                               "..#.."});
  const Oracle one(map, CornerRule::kNoCornerCutting, {0, 0});
  const Oracle two(map, CornerRule::kNoCornerCutting, {0, 0}, 2);
  EXPECT_TRUE(one.CostTo({3, 0}));
  EXPECT_FALSE(two.CostTo({3, 0}));
  EXPECT_DOUBLE_EQ(*two.CostTo({0, 1}), 1.0);
  EXPECT_EQ(two.NearestTo({3, 1}), (Cell{0, 1}));
}

TEST(OracleFootprintTest, CornerRulesLookAtPositions) {
  // An agent of 2 x 2 may stand at (1, 0) and (0, 1), hence step between them: (0, 0) is free, (1, 1) is not.
  const GridMap map = DrawMap({"...",  //
                               "...",  //
                               "..#"});
  const Cell from{1, 0};
  const Cell to{0, 1};
  EXPECT_FALSE(IsLegalStep(map, CornerRule::kNoCornerCutting, from, to, 2));
  EXPECT_TRUE(IsLegalStep(map, CornerRule::kOneSideFree, from, to, 2));
  EXPECT_TRUE(IsLegalStep(map, CornerRule::kAlways, from, to, 2));
  EXPECT_TRUE(IsLegalStep(map, CornerRule::kNoCornerCutting, from, to, 1));
  EXPECT_DOUBLE_EQ(*Oracle(map, CornerRule::kNoCornerCutting, from, 2).CostTo(to), 2.0);
  EXPECT_DOUBLE_EQ(*Oracle(map, CornerRule::kOneSideFree, from, 2).CostTo(to), kSqrt2);
}

TEST(OracleFootprintTest, PaysForTheDearestTerrainBelowIt) {
  core::GridSettings settings;
  settings.terrains = {{.symbol = '.'}, {.symbol = '~', .name = "swamp", .cost = 3.0}};
  const GridMap map = DrawMap({"....",  //
                               "...~",  //
                               "...."},
                              settings);
  EXPECT_DOUBLE_EQ(StepCost(map, {0, 0}, {1, 0}, 2), 1.0);
  EXPECT_DOUBLE_EQ(StepCost(map, {1, 0}, {2, 0}, 2), 3.0);
  EXPECT_DOUBLE_EQ(StepCost(map, {1, 0}, {2, 1}, 2), 3.0 * kSqrt2);
  EXPECT_DOUBLE_EQ(*Oracle(map, CornerRule::kNoCornerCutting, {0, 0}, 2).CostTo({2, 0}), 4.0);
}

TEST(PathFaultTest, JudgesTheFootprint) {
  const GridMap map = DrawMap({"...",  //
                               "...",  //
                               "..#"});
  const std::vector<Cell> around = {{1, 0}, {0, 0}, {0, 1}};
  const std::vector<Cell> across = {{1, 0}, {0, 1}};
  const auto fault = [&](const std::vector<Cell>& points, double cost, int footprint) {
    return PathFault(map, CornerRule::kNoCornerCutting, {1, 0}, {0, 1}, points, cost, footprint);
  };
  EXPECT_EQ(fault(around, 2.0, 2), "");
  EXPECT_EQ(fault(across, kSqrt2, 1), "");
  EXPECT_EQ(fault(across, kSqrt2, 2), "step 1 from (1, 0) to (0, 1) is not legal");
}

}  // namespace
}  // namespace waystar
