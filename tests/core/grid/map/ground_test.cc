// Terrains, nameless obstacles, covers and costs of cells set by an editor, on maps and on views of them,
// against a map that remembers each cell by itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/profile_views.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

constexpr TerrainId kTerrains = 4;
constexpr Cost kLeast = kCostScale / 1000;
constexpr Cost kMost = kCostScale * 1000;

// Open, open, closed, closed.
GridSettings Landscape(double diagonal_cost = kSqrt2) {
  GridSettings settings{.diagonal_cost = diagonal_cost};
  settings.terrains.push_back({.symbol = 's', .name = "swamp", .cost = 4.0});
  settings.terrains.push_back({.symbol = '~', .name = "water", .impassable = true});
  settings.terrains.push_back({.symbol = '^', .name = "rock", .impassable = true});
  return settings;
}

// Rules under which other terrains can be entered than on the map: water alone, all, and all but swamp.
std::vector<TerrainRules> OtherRules() {
  const GridSettings settings = Landscape();
  return {TerrainRules({.terrain_costs = {{'~', 2.0}}, .forbidden_terrains = {'.', 's'}}, settings),
          TerrainRules({.terrain_costs = {{'~', 2.0}, {'^', 3.0}}}, settings),
          TerrainRules({.terrain_costs = {{'~', 1.0}, {'^', 1.0}}, .forbidden_terrains = {'s'}}, settings)};
}

struct GroundCell {
  TerrainId terrain = 0;
  bool nameless = false;
  int covers = 0;
  std::optional<Cost> own = std::nullopt;

  bool HasObstacle() const { return nameless || covers > 0; }
};

class GroundModel {
 public:
  GroundModel(int width, int height, const GroundCell& fill)
      : rows_(static_cast<std::size_t>(height),
              std::vector<GroundCell>(static_cast<std::size_t>(width), fill)) {}

  GroundCell& At(int x, int y) { return rows_[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]; }
  const GroundCell& At(int x, int y) const {
    return rows_[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
  }

 private:
  std::vector<std::vector<GroundCell>> rows_;
};

void ExpectGround(const GridMap& map, const GroundModel& model) {
  std::int64_t walkable = 0;
  std::int64_t obstacles = 0;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell cell{x, y};
      SCOPED_TRACE(absl::StrCat("cell ", x, " ", y));
      const GroundCell& at = model.At(x, y);
      const bool has_obstacle = at.HasObstacle();
      const bool is_walkable = !has_obstacle && !map.settings().terrains[at.terrain].impassable;
      const auto word = WordOf(x);
      const Word bit = Word{1} << (static_cast<unsigned>(x + 1) % kWordBits);
      ASSERT_EQ(map.TerrainAt(cell), at.terrain);
      ASSERT_EQ(map.HasNamelessObstacle(cell), at.nameless);
      ASSERT_EQ(map.IsCovered(cell), at.covers > 0);
      ASSERT_EQ(map.HasObstacle(cell), has_obstacle);
      ASSERT_EQ(map.IsWalkable(cell), is_walkable);
      ASSERT_EQ((map.NamelessWord(y, word) & bit) != 0, at.nameless);
      ASSERT_EQ((map.ObstacleWord(y, word) & bit) != 0, has_obstacle);
      walkable += is_walkable ? 1 : 0;
      obstacles += has_obstacle ? 1 : 0;
    }
    for (int i = 0; i < WordsPerRow(map.width()); ++i) {
      const auto word = static_cast<std::size_t>(i);
      ASSERT_EQ(map.ObstacleWord(y, word) & ~SpanMask(word, 0, map.width()), Word{0});
      ASSERT_EQ(map.NamelessWord(y, word) & ~map.ObstacleWord(y, word), Word{0});
    }
  }
  ASSERT_EQ(map.walkable_cells(), walkable);
  ASSERT_EQ(map.obstacle_cells(), obstacles);
}

Cost CostOf(const GridMap& map, const GroundCell& cell) {
  return cell.own.value_or(CostFromDouble(map.settings().terrains[cell.terrain].cost));
}

void ExpectCosts(const GridMap& map, const GroundModel& model) {
  std::int64_t own = 0;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell cell{x, y};
      SCOPED_TRACE(absl::StrCat("cell ", x, " ", y));
      ASSERT_EQ(map.StraightCost(cell), CostOf(map, model.At(x, y)));
      ASSERT_EQ(map.DiagonalCost(cell), DiagonalCost(map.StraightCost(cell), map.settings().diagonal_cost));
      ASSERT_GE(map.DiagonalCost(cell), map.StraightCost(cell));
      ASSERT_LE(map.DiagonalCost(cell), 2 * map.StraightCost(cell));
      if (map.IsWalkable(cell)) {
        ASSERT_LE(map.min_straight(), map.StraightCost(cell));
        ASSERT_LE(map.min_diagonal(), map.DiagonalCost(cell));
      }
      if (model.At(x, y).own) {
        ++own;
        ASSERT_NE(map.cell_costs(), nullptr);
        ASSERT_TRUE(map.cell_costs()->MayHaveNear(cell));
        ASSERT_TRUE(map.cell_costs()->MayHaveNear({std::max(x - 1, 0), y}));
        ASSERT_TRUE(map.cell_costs()->MayHaveNear({x, std::min(y + 1, map.height() - 1)}));
      }
    }
  }
  ASSERT_EQ(map.cell_costs() == nullptr, own == 0);
  EXPECT_TRUE(own == 0 || (map.cell_costs()->count() == own && !map.HasUniformCost()));
}

std::vector<Cell> CellsOf(const std::vector<WordChange>& changes) {
  std::vector<Cell> cells;
  for (const WordChange& change : changes) {
    ForEachCell(change, [&](Cell cell) { cells.push_back(cell); });
  }
  return cells;
}

void ExpectChanges(const MapChanges& changes, const GroundModel& before, const GroundModel& after,
                   const GridMap& map) {
  if (changes.is_everything) {
    EXPECT_TRUE(changes.walkability.empty() && changes.cost.empty());
    return;
  }
  const auto is_walkable = [&](const GroundCell& cell) {
    return !cell.HasObstacle() && !map.settings().terrains[cell.terrain].impassable;
  };
  std::vector<Cell> walkability;
  std::vector<Cell> cost;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const GroundCell& was = before.At(x, y);
      const GroundCell& is = after.At(x, y);
      if (is_walkable(was) != is_walkable(is)) {
        walkability.push_back({x, y});
      } else if (is_walkable(is) && CostOf(map, was) != CostOf(map, is)) {
        cost.push_back({x, y});
      }
    }
  }
  EXPECT_TRUE(CellsOf(changes.walkability) == walkability);
  EXPECT_TRUE(CellsOf(changes.cost) == cost);
}

// One random change, of the editor and the model alike.
void ChangeGround(Generator& generator, bool has_costs, GridMapEditor& editor, GroundModel& model) {
  const int width = editor.map().width();
  const Cell cell = generator.CellOf(editor.map());
  const int end = generator.Chance(0.2) ? width : std::min(width, cell.x + generator.Between(1, 70));
  const auto for_each = [&](auto visit) {
    for (int x = cell.x; x < end; ++x) {
      visit(model.At(x, cell.y));
    }
  };
  switch (generator.Between(0, has_costs ? 11 : 6)) {
    case 0:
    case 1:
    case 2: {
      const bool obstacle = generator.Chance(0.6);
      editor.SetObstacles(cell.y, cell.x, end, obstacle);
      return for_each([&](GroundCell& at) { at.nameless = obstacle; });
    }
    case 3: {
      const auto terrain = static_cast<TerrainId>(generator.Between(0, kTerrains - 1));
      editor.SetTerrains(cell.y, cell.x, end, terrain);
      return for_each([&](GroundCell& at) { at.terrain = terrain; });
    }
    case 4: {
      std::vector<TerrainId> row;
      for (int x = 0; x < width; ++x) {
        const bool obstacle = generator.Chance(0.3);
        row.push_back(obstacle ? GridMapEditor::kObstacle
                               : static_cast<TerrainId>(generator.Between(0, kTerrains - 1)));
        GroundCell& at = model.At(x, cell.y);
        at.terrain = obstacle ? TerrainId{0} : row.back();
        at.nameless = obstacle;
      }
      return editor.SetRow(cell.y, row);
    }
    case 5:
    case 6: {
      int least = kTerrains;
      for_each([&](const GroundCell& at) { least = std::min(least, at.covers); });
      const int more = least > 0 && generator.Chance(0.5) ? -1 : 1;
      editor.Cover(cell.y, cell.x, end, more);
      return for_each([&](GroundCell& at) { at.covers += more; });
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
      return for_each([&](GroundCell& at) { at.own = cost; });
    }
  }
}

void ExpectViewsAre(const GridMap& map, const GroundModel& model, Generator& generator) {
  for (const TerrainRules& rules : OtherRules()) {
    if (generator.Chance(0.4)) {
      continue;
    }
    const std::shared_ptr<const GridMap> view = ViewUnder(map, rules);
    ExpectGround(*view, model);
    GroundModel edited_model = model;
    GridMapEditor editor(*view);
    for (int i = generator.Between(1, 4); i > 0; --i) {
      ChangeGround(generator, false, editor, edited_model);
    }
    ExpectGround(std::move(editor).Finish(), edited_model);
    ExpectGround(*view, model);
  }
}

// With costs of single cells on every second map; views of the others.
TEST(GroundTest, MapsAndViewsAreAsTheyWereTold) {
  for (std::uint64_t seed = 1; seed <= Rounds(120); ++seed) {
    Generator generator(seed);
    const bool has_costs = seed % 2 == 0;
    const int width = generator.Chance(0.5) ? generator.Between(1, 150) : 64 * generator.Between(1, 2) - 2;
    const int height = generator.Between(1, 30);
    const GroundCell fill{.terrain = static_cast<TerrainId>(generator.Between(0, kTerrains - 1)),
                          .nameless = generator.Chance(0.3)};
    GroundModel model(width, height, fill);
    GridMap map = *GridMap::Create(width, height, Landscape(1.0 + 0.1 * generator.Between(0, 10)),
                                   fill.terrain, fill.nameless);
    ExpectGround(map, model);
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, " round ", round));
      const GridMap before = map;
      const GroundModel model_before = model;
      GridMapEditor editor(before);
      for (int i = generator.Between(1, 12); i > 0; --i) {
        ChangeGround(generator, has_costs, editor, model);
        ExpectGround(editor.map(), model);
        ASSERT_FALSE(HasFailure());
      }
      GridMapEditor::Result result = std::move(editor).FinishAndList();
      map = std::move(result.map);
      ExpectGround(map, model);
      ExpectCosts(map, model);
      ExpectChanges(result.changes, model_before, model, map);
      if (!has_costs) {
        ExpectViewsAre(map, model, generator);
      }
      ExpectGround(before, model_before);
      ExpectCosts(before, model_before);
      ASSERT_FALSE(HasFailure());
    }
  }
}

// Which the map does not feel, but a view for which the ground is open does.
TEST(GroundTest, ViewFollowsObstaclesOnClosedGround) {
  const GridMap map = *GridMap::Create(3, 1, Landscape(), 2);
  const TerrainRules all = OtherRules()[1];
  ASSERT_EQ(ViewUnder(map, all)->walkable_cells(), 3);
  GridMapEditor editor(map);
  editor.SetObstacle({1, 0}, true);
  editor.Cover(0, 2, 3, 1);
  editor.SetObstacle({2, 0}, true);
  const GridMap blocked = std::move(editor).Finish();
  EXPECT_EQ(blocked.obstacle_cells(), 2);
  EXPECT_EQ(ViewUnder(blocked, all)->walkable_cells(), 1);
  GridMapEditor uncovering(blocked);
  uncovering.Cover(0, 2, 3, -1);
  const GridMap uncovered = std::move(uncovering).Finish();
  EXPECT_TRUE(uncovered.HasNamelessObstacle({2, 0}));
  EXPECT_TRUE(ViewUnder(uncovered, all)->HasNamelessObstacle({2, 0}));
  EXPECT_EQ(ViewUnder(uncovered, all)->walkable_cells(), 1);
}

TEST(GroundTest, ObstaclesOnOpenGroundTakeTheMemoryOfWhatIsWalkable) {
  const GridMap map = *GridMap::Create(kMaxMapSide, kMaxMapSide, {});
  GridMapEditor editor(map);
  for (int i = 0; i < 1000; ++i) {
    editor.SetObstacle({i * 8, i * 8}, true);
  }
  const GridMap blocked = std::move(editor).Finish();
  // A row and a column each.
  const auto row_bytes = static_cast<std::size_t>(WordsPerRow(kMaxMapSide)) * sizeof(Word);
  EXPECT_LE(blocked.memory_bytes(), map.memory_bytes() + 1000 * 2 * row_bytes);
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
