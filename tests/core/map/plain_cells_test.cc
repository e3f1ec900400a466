#include "server/core/map/plain_cells.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_map_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;
using ::waystar::testing::Rounds;

bool IsPlainAlongRow(const PlainCells& plain, Cell cell) { return TestBit(plain.AlongRow(cell.y), cell.x); }
bool IsPlainAlongColumn(const PlainCells& plain, Cell cell) {
  return TestBit(plain.AlongColumn(cell.x), cell.y);
}

GridSettings WithSwamp() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '~', .name = "swamp", .cost = 2.0});
  return settings;
}

TEST(PlainCellsTest, AmidOneTerrainAllButTheBorder) {
  const GridMap map = DrawMap({"....", "....", "....", "...."});
  const PlainCells plain(map);
  EXPECT_TRUE(IsPlainAlongRow(plain, {1, 1}));
  EXPECT_TRUE(IsPlainAlongColumn(plain, {2, 2}));
  EXPECT_TRUE(plain.IsPlainForDiagonals({1, 2}));
  EXPECT_FALSE(IsPlainAlongRow(plain, {0, 1}));
  EXPECT_FALSE(IsPlainAlongColumn(plain, {1, 3}));
  EXPECT_FALSE(plain.IsPlainForDiagonals({1, 0}));
}

TEST(PlainCellsTest, AlongAWallRunsGoStraightOn) {
  const PlainCells plain(DrawMap({"#####", ".....", "....."}));
  EXPECT_TRUE(IsPlainAlongRow(plain, {2, 1}));
  EXPECT_FALSE(IsPlainAlongColumn(plain, {2, 1}));
}

TEST(PlainCellsTest, FromTheCheapSideOfABorderPathsTurn) {
  const PlainCells plain(DrawMap({"~~~~~", "~~~~~", ".....", "....."}, WithSwamp()));
  EXPECT_FALSE(IsPlainAlongRow(plain, {2, 2}));
  EXPECT_TRUE(IsPlainAlongRow(plain, {2, 3}));
}

TEST(PlainCellsTest, ABlockedCellIsNotPlain) {
  const PlainCells plain(DrawMap({"...", ".#.", "..."}));
  EXPECT_FALSE(IsPlainAlongRow(plain, {1, 1}));
  EXPECT_FALSE(plain.IsPlainForDiagonals({1, 1}));
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
  const PlainCells plain(dear);
  EXPECT_TRUE(plain.IsPlainForDiagonals({2, 2}));
  EXPECT_FALSE(plain.IsPlainForDiagonals({3, 2}));
  EXPECT_FALSE(plain.IsPlainForDiagonals({4, 2}));
  EXPECT_TRUE(plain.IsPlainForDiagonals({5, 2}));
  EXPECT_TRUE(IsPlainAlongRow(plain, {6, 2}));
  EXPECT_FALSE(IsPlainAlongRow(plain, {7, 2}));
}

// Rows given terrain anew here and there, obstacles, and costs of cells themselves.
GridMap WithOneKindEdited(const GridMap& map, Generator& generator) {
  if (generator.Chance(0.3)) {
    return generator.WithStepCostsChanged(map);
  }
  GridMapEditor editor(map);
  for (int i = generator.Between(1, 3); i > 0; --i) {
    const int y = generator.Between(0, map.height() - 1);
    if (generator.Chance(0.5)) {
      const int begin = generator.Between(0, map.width() - 1);
      editor.SetObstacles(y, begin, generator.Between(begin, map.width()), generator.Chance(0.5));
      continue;
    }
    std::vector<TerrainId> row(map.TerrainRow(y), map.TerrainRow(y) + map.width());
    for (int x = 0; x < map.width(); ++x) {
      if (generator.Chance(0.1)) {
        row[static_cast<std::size_t>(x)] = static_cast<TerrainId>(generator.Between(0, 4));
      }
    }
    editor.SetRow(y, row);
  }
  return std::move(editor).Finish();
}

TEST(PlainCellsTest, KeptUpToDateByEdits) {
  for (std::uint64_t seed = 1; seed <= Rounds(100); ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = 140, .weighted = true});
    map.plain_cells();
    for (int i = 0; i < 4; ++i) {
      map = WithOneKindEdited(map, generator);
      const PlainCells anew(map);
      const PlainCells& kept = map.plain_cells();
      for (int y = 0; y < map.height(); ++y) {
        for (int x = 0; x < map.width(); ++x) {
          SCOPED_TRACE(absl::StrCat("seed ", seed, " edit ", i, " cell ", x, " ", y));
          ASSERT_EQ(IsPlainAlongRow(kept, {x, y}), IsPlainAlongRow(anew, {x, y}));
          ASSERT_EQ(IsPlainAlongColumn(kept, {x, y}), IsPlainAlongColumn(anew, {x, y}));
          ASSERT_EQ(kept.IsPlainForDiagonals({x, y}), anew.IsPlainForDiagonals({x, y}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
