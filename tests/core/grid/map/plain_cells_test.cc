#include "server/core/grid/map/plain_cells.h"

#include <utility>

#include "gtest/gtest.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/plainness.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::Plainness;
using ::waystar::testing::PlainnessAt;

Plainness At(const GridMap& map, Cell cell) { return PlainnessAt(map.plain_cells(), map, cell); }

GridSettings WithSwamp() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "swamp", .cost = 2.0});
  return settings;
}

TEST(PlainCellsTest, AmidOneTerrainAllButTheBorder) {
  const GridMap map = DrawMap({"....", "....", "....", "...."});
  EXPECT_TRUE(At(map, {1, 1}).along_row);
  EXPECT_TRUE(At(map, {2, 2}).along_column);
  EXPECT_TRUE(At(map, {1, 2}).diagonally);
  EXPECT_FALSE(At(map, {0, 1}).along_row);
  EXPECT_FALSE(At(map, {1, 3}).along_column);
  EXPECT_FALSE(At(map, {1, 0}).diagonally);
}

TEST(PlainCellsTest, AlongAWallRunsGoStraightOn) {
  const GridMap map = DrawMap({"#####", ".....", "....."});
  EXPECT_TRUE(At(map, {2, 1}).along_row);
  EXPECT_FALSE(At(map, {2, 1}).along_column);
}

TEST(PlainCellsTest, FromTheCheapSideOfABorderPathsTurn) {
  const GridMap map = DrawMap({"~~~~~", "~~~~~", ".....", "....."}, WithSwamp());
  EXPECT_FALSE(At(map, {2, 2}).along_row);
  EXPECT_TRUE(At(map, {2, 3}).along_row);
}

TEST(PlainCellsTest, ABlockedCellIsNotPlain) {
  const GridMap map = DrawMap({"...", ".#.", "..."});
  EXPECT_FALSE(At(map, {1, 1}).along_row);
  EXPECT_FALSE(At(map, {1, 1}).diagonally);
}

TEST(PlainCellsTest, CostsOfCellsThemselvesLeavePlainWhatTheyAreTheSameAround) {
  const GridMap map = DrawMap({"........", "........", "........", "........", "........"});
  GridMapEditor editor(map);
  for (int y = 0; y < 5; ++y) {
    for (int x = 4; x < 8; ++x) {
      editor.SetStepCost({x, y}, 3 * kCostScale);
    }
  }
  const GridMap dear = std::move(editor).Finish();
  EXPECT_TRUE(At(dear, {2, 2}).diagonally);
  EXPECT_FALSE(At(dear, {3, 2}).diagonally);
  EXPECT_FALSE(At(dear, {4, 2}).diagonally);
  EXPECT_TRUE(At(dear, {5, 2}).diagonally);
  EXPECT_TRUE(At(dear, {6, 2}).along_row);
  EXPECT_FALSE(At(dear, {7, 2}).along_row);
}

}  // namespace
}  // namespace waystar::core
