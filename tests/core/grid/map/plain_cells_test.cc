#include "server/core/grid/map/plain_cells.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/plainness.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;
using ::waystar::testing::Plainness;
using ::waystar::testing::PlainnessAt;
using ::waystar::testing::Rounds;

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
    // Some tiles are judged before the edits, and the others after.
    for (int i = generator.Between(0, 6); i > 0; --i) {
      At(map, generator.CellOf(map));
    }
    for (int i = 0; i < 4; ++i) {
      map = WithOneKindEdited(map, generator);
      const PlainCells anew(map);
      const PlainCells& kept = map.plain_cells();
      for (int y = 0; y < map.height(); ++y) {
        for (int x = 0; x < map.width(); ++x) {
          SCOPED_TRACE(absl::StrCat("seed ", seed, " edit ", i, " cell ", x, " ", y));
          ASSERT_TRUE(PlainnessAt(kept, map, {x, y}) == PlainnessAt(anew, map, {x, y}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
