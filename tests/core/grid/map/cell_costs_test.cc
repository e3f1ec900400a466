// Costs of single cells and terrains set by an editor, against a map that remembers each cell by itself.
#include "server/core/grid/map/cell_costs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;

constexpr Cost kLeast = kCostScale / 1000;
constexpr Cost kMost = kCostScale * 1000;

std::vector<Cell> CellsOf(const std::vector<WordChange>& changes) {
  std::vector<Cell> cells;
  for (const WordChange& change : changes) {
    ForEachCell(change, [&](Cell cell) { cells.push_back(cell); });
  }
  return cells;
}

struct ModelCell {
  TerrainId terrain = 0;
  bool obstacle = false;
  std::optional<Cost> own;
};

// A map as it should be.
class CostModel {
 public:
  explicit CostModel(const GridMap& map) : settings_(map.settings()), width_(map.width()) {
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        cells_.push_back({.terrain = map.TerrainAt({x, y}), .obstacle = map.HasObstacle({x, y}), .own = {}});
      }
    }
  }

  ModelCell& At(Cell cell) { return cells_[static_cast<std::size_t>(cell.y * width_ + cell.x)]; }
  const ModelCell& At(Cell cell) const { return cells_[static_cast<std::size_t>(cell.y * width_ + cell.x)]; }
  bool IsWalkable(Cell cell) const {
    return !At(cell).obstacle && !settings_.terrains[At(cell).terrain].impassable;
  }
  Cost CostOf(Cell cell) const {
    return At(cell).own.value_or(CostFromDouble(settings_.terrains[At(cell).terrain].cost));
  }
  bool HasOwnCosts() const {
    return std::any_of(cells_.begin(), cells_.end(), [](const ModelCell& cell) { return cell.own; });
  }

 private:
  GridSettings settings_;
  int width_;
  std::vector<ModelCell> cells_;
};

void ExpectIs(const GridMap& map, const CostModel& model) {
  std::int64_t walkable = 0;
  std::int64_t own = 0;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell cell{x, y};
      SCOPED_TRACE(absl::StrCat("cell ", x, " ", y));
      ASSERT_EQ(map.TerrainAt(cell), model.At(cell).terrain);
      ASSERT_EQ(map.HasObstacle(cell), model.At(cell).obstacle);
      ASSERT_EQ(map.IsWalkable(cell), model.IsWalkable(cell));
      ASSERT_EQ(map.StraightCost(cell), model.CostOf(cell));
      ASSERT_EQ(map.DiagonalCost(cell), DiagonalCost(model.CostOf(cell), map.settings().diagonal_cost));
      ASSERT_GE(map.DiagonalCost(cell), map.StraightCost(cell));
      ASSERT_LE(map.DiagonalCost(cell), 2 * map.StraightCost(cell));
      if (map.IsWalkable(cell)) {
        ++walkable;
        ASSERT_LE(map.min_straight(), map.StraightCost(cell));
        ASSERT_LE(map.min_diagonal(), map.DiagonalCost(cell));
      }
      if (model.At(cell).own) {
        ++own;
        ASSERT_TRUE(map.cell_costs()->MayHaveNear(cell));
        ASSERT_TRUE(map.cell_costs()->MayHaveNear({std::max(x - 1, 0), y}));
        ASSERT_TRUE(map.cell_costs()->MayHaveNear({x, std::min(y + 1, map.height() - 1)}));
      }
    }
  }
  EXPECT_EQ(map.walkable_cells(), walkable);
  ASSERT_EQ(map.cell_costs() != nullptr, model.HasOwnCosts());
  if (own > 0) {
    EXPECT_EQ(map.cell_costs()->count(), own);
    EXPECT_FALSE(map.HasUniformCost());
  }
}

void ExpectChanges(const MapChanges& changes, const CostModel& before, const CostModel& after,
                   const GridMap& map) {
  if (changes.is_everything) {
    EXPECT_TRUE(changes.walkability.empty() && changes.cost.empty());
    return;
  }
  std::vector<Cell> walkability;
  std::vector<Cell> cost;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell cell{x, y};
      if (before.IsWalkable(cell) != after.IsWalkable(cell)) {
        walkability.push_back(cell);
      } else if (after.IsWalkable(cell) && before.CostOf(cell) != after.CostOf(cell)) {
        cost.push_back(cell);
      }
    }
  }
  EXPECT_TRUE(CellsOf(changes.walkability) == walkability);
  EXPECT_TRUE(CellsOf(changes.cost) == cost);
}

// One random change, of the editor and the model alike.
void Change(const GridMap& map, Generator& generator, GridMapEditor& editor, CostModel& model) {
  const Cell cell = generator.CellOf(map);
  const int end = std::min(map.width(), cell.x + generator.Between(1, 70));
  const auto for_each = [&](auto visit) {
    for (int x = cell.x; x < end; ++x) {
      visit(model.At({x, cell.y}));
    }
  };
  switch (generator.Between(0, 3)) {
    case 0: {
      const bool obstacle = generator.Chance(0.5);
      editor.SetObstacles(cell.y, cell.x, end, obstacle);
      return for_each([&](ModelCell& at) { at.obstacle = obstacle; });
    }
    case 1: {
      const auto terrains = static_cast<int>(map.settings().terrains.size());
      const auto terrain = static_cast<TerrainId>(generator.Between(0, terrains - 1));
      editor.SetTerrains(cell.y, cell.x, end, terrain);
      return for_each([&](ModelCell& at) { at.terrain = terrain; });
    }
    default: {
      std::optional<Cost> cost;
      if (generator.Chance(0.6)) {
        cost = generator.Chance(0.1)   ? kLeast
               : generator.Chance(0.1) ? kMost
                                       : generator.Between(1, 9) * kLeast;
      }
      for (int x = cell.x; x < end; ++x) {
        editor.SetStepCost({x, cell.y}, cost);
      }
      return for_each([&](ModelCell& at) { at.own = cost; });
    }
  }
}

TEST(CellCostsTest, EditorKeepsWhatItWasToldOfEachCell) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = 140, .max_cells = 6000, .weighted = seed % 2 == 0});
    CostModel model(map);
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, " round ", round));
      const GridMap before = map;
      const CostModel model_before = model;
      GridMapEditor editor(before);
      for (int i = generator.Between(1, 12); i > 0; --i) {
        Change(before, generator, editor, model);
      }
      GridMapEditor::Result result = std::move(editor).FinishAndList();
      map = std::move(result.map);
      ExpectIs(map, model);
      ExpectIs(before, model_before);
      ExpectChanges(result.changes, model_before, model, map);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(CellCostsTest, WhatIsSetBackIsNoChange) {
  const GridMap map = DrawMap({"....", "...."});
  GridMapEditor editor(map);
  editor.SetStepCost({1, 1}, kMost);
  editor.SetStepCost({1, 1}, std::nullopt);
  editor.SetObstacle({2, 0}, true);
  editor.SetObstacle({2, 0}, false);
  const GridMapEditor::Result result = std::move(editor).FinishAndList();
  EXPECT_TRUE(result.changes.empty());
  EXPECT_TRUE(result.map.HasUniformCost());
  EXPECT_EQ(result.map.cell_costs(), nullptr);
}

TEST(CellCostsTest, TheLastCostTakenAwayLeavesNone) {
  const GridMap map = DrawMap({"....", "...."});
  GridMapEditor put(map);
  put.SetStepCost({1, 1}, kLeast);
  const GridMap dear = std::move(put).Finish();
  EXPECT_FALSE(dear.HasUniformCost());
  EXPECT_EQ(dear.min_straight(), kLeast);
  EXPECT_EQ(dear.min_diagonal(), 141'421);
  GridMapEditor take(dear);
  take.SetStepCost({1, 1}, std::nullopt);
  const GridMap back = std::move(take).Finish();
  EXPECT_TRUE(back.HasUniformCost());
  EXPECT_EQ(back.min_straight(), kCostScale);
  EXPECT_EQ(back.memory_bytes(), map.memory_bytes());
}

// An editor copies the tiles that it writes to.
TEST(CellCostsTest, TakeMemoryWhereTheyAre) {
  const GridMap map = *GridMap::Create(kMaxMapSide, kMaxMapSide, {});
  GridMapEditor editor(map);
  editor.SetStepCost({5000, 5000}, kMost);
  const GridMap dear = std::move(editor).Finish();
  EXPECT_LT(dear.memory_bytes(), map.memory_bytes() + 40'000);
}

}  // namespace
}  // namespace waystar::core
