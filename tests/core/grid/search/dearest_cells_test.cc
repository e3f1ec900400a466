#include "server/core/grid/search/dearest_cells.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "tests/testing/generator.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

Cell DearestOf(const GridMap& map, int footprint, Cell position) {
  Cell dearest = position;
  ForEachCellUnder(position, footprint, [&](Cell cell) {
    if (map.StraightCost(cell) > map.StraightCost(dearest)) {
      dearest = cell;
    }
  });
  return dearest;
}

std::vector<Cell> PositionsOn(const GridMap& map, int footprint) {
  std::vector<Cell> positions;
  for (int y = 0; y + footprint <= map.height(); ++y) {
    for (int x = 0; x + footprint <= map.width(); ++x) {
      positions.push_back({x, y});
    }
  }
  return positions;
}

TEST(DearestCellsTest, AgreesWithALookAtAllCells) {
  DearestCells cells;
  for (std::uint64_t seed = 1; seed <= Rounds(80); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    std::vector<GridMap> maps;
    std::vector<int> footprints;
    std::vector<DearestCells::Ground> grounds;
    for (int i = 0; i < 3; ++i) {
      const GridMap map = generator.Map({.max_side = 140, .max_cells = 8000, .weighted = true});
      maps.push_back(generator.Chance(0.5) ? generator.WithStepCostsChanged(map) : map);
      footprints.push_back(generator.Between(1, std::min({kMaxFootprint, map.width(), map.height()})));
    }
    cells.Clear();
    EXPECT_EQ(cells.tiles_read(), 0U);
    for (std::size_t i = 0; i < maps.size(); ++i) {
      grounds.push_back(cells.Add(maps[i], footprints[i]));
    }
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const GridMap& map = maps[i];
      std::vector<Cell> positions = PositionsOn(map, footprints[i]);
      generator.Shuffle(positions);
      DearestOnPath on_path(map, footprints[i]);
      for (const Cell position : positions) {
        const Cell dearest = DearestOf(map, footprints[i], position);
        ASSERT_EQ(cells.Under(grounds[i], position), dearest) << position.x << ", " << position.y;
        ASSERT_EQ(on_path.Under(position), dearest) << position.x << ", " << position.y;
        Cost diagonal = 0;
        ForEachCellUnder(position, footprints[i],
                         [&](Cell cell) { diagonal = std::max(diagonal, map.DiagonalCost(cell)); });
        ASSERT_EQ(map.DiagonalCost(dearest), diagonal);
      }
    }
  }
}

TEST(DearestCellsTest, OverwritesTheOldestTiles) {
  constexpr int kTiles = 65;
  static_assert(std::size_t{kTiles} * kTiles > DearestCells::kMaxTiles);
  GridSettings settings;
  settings.terrains = {{.symbol = '.', .name = "meadow"}, {.symbol = ',', .name = "mud", .cost = 3.0}};
  constexpr int kSide = kTiles * DearestTile::kSide;
  const GridMap blank = GridMap::Create(kSide, kSide, std::move(settings)).value();
  GridMapEditor editor(blank);
  for (int y = 0; y < kSide; y += 5) {
    editor.SetTerrains(y, y % 31, kSide - y % 37, 1);
  }
  const GridMap map = std::move(editor).Finish();
  constexpr int kFootprint = 4;
  DearestCells cells;
  const DearestCells::Ground ground = cells.Add(map, kFootprint);
  for (int round = 0; round < 2; ++round) {
    for (int y = round; y + kFootprint <= kSide; y += DearestTile::kSide) {
      for (int x = 2 * round; x + kFootprint <= kSide; x += DearestTile::kSide) {
        ASSERT_EQ(cells.Under(ground, {x, y}), DearestOf(map, kFootprint, {x, y})) << x << ", " << y;
      }
    }
  }
  EXPECT_EQ(cells.tiles_read(), 2U * kTiles * kTiles);
  EXPECT_LT(cells.memory_bytes(), std::size_t{9} << 20);
}

TEST(DearestOnPathTest, ReadsFewTilesForAStep) {
  const GridMap map = GridMap::Create(600, 600, {}).value();
  for (const Cell step : {Cell{1, 0}, Cell{0, 1}, Cell{1, 1}}) {
    DearestOnPath on_path(map, 32);
    // It turns back and forth where four tiles meet, then goes straight.
    for (const int turn : {0, 1, 0, -1, 0, -2, 1}) {
      on_path.Under({32 + turn * step.x, 32 + turn * step.y});
    }
    EXPECT_LE(on_path.tiles_read(), 4U);
    for (int i = 0; i < 500; ++i) {
      on_path.Under({32 + i * step.x, 32 + i * step.y});
    }
    EXPECT_LE(on_path.tiles_read(), 4U + 500 / DearestTile::kSide);
  }
}

}  // namespace
}  // namespace waystar::core
