#include "server/core/grid/map/cost_floor.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/profile_views.h"
#include "tests/testing/generator.h"
#include "tests/testing/layouts.h"
#include "tests/testing/profiles.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::UnorderedElementsAreArray;

constexpr double kRoadCost = 0.5;

GridSettings RoadsAndGold() {
  return {.terrains = {{.symbol = '.', .name = "meadow"},
                       {.symbol = '-', .name = "road", .cost = kRoadCost},
                       {.symbol = '$', .name = "gold", .cost = 0.01},
                       {.symbol = '~', .name = "water", .cost = 0.001, .impassable = true}}};
}

GridMap Meadow(int side) { return GridMap::Create(side, side, RoadsAndGold()).value(); }

GridMap WithCost(const GridMap& map, const Rectangle& cells, double cost) {
  GridMapEditor editor(map);
  for (int y = cells.y; y < cells.y + cells.height; ++y) {
    for (int x = cells.x; x < cells.x + cells.width; ++x) {
      editor.SetStepCost({x, y}, CostFromDouble(cost));
    }
  }
  return std::move(editor).Finish();
}

GridMap WithTerrain(const GridMap& map, const Rectangle& cells, TerrainId terrain) {
  GridMapEditor editor(map);
  for (int y = cells.y; y < cells.y + cells.height; ++y) {
    editor.SetTerrains(y, cells.x, cells.x + cells.width, terrain);
  }
  return std::move(editor).Finish();
}

void ExpectFloor(const GridMap& map, double everywhere, double elsewhere) {
  EXPECT_EQ(map.cost_floor().everywhere.straight, CostFromDouble(everywhere));
  EXPECT_EQ(map.cost_floor().elsewhere.straight, CostFromDouble(elsewhere));
}

TEST(CostFloorTest, CheapPlacesLieApartFromTheFloor) {
  const GridMap gold = WithTerrain(Meadow(200), {150, 150, 1, 1}, 2);
  GridMap roads = Meadow(512);
  for (int y = 0; y < 512; y += 16) {
    roads = WithTerrain(roads, {0, y, 512, 1}, 1);
  }
  const struct {
    const char* what;
    GridMap map;
    double everywhere;
    double elsewhere;
    std::vector<Rectangle> cheap;
  } cases[] = {
      {"terrain that lies nowhere", Meadow(100), 1.0, 0.0, {}},
      {"impassable terrain", WithTerrain(Meadow(100), {10, 10, 3, 3}, 3), 1.0, 0.0, {}},
      {"a cheap cell", WithCost(Meadow(300), {77, 33, 1, 1}, 0.25), 0.25, 0.75, {{77, 33, 1, 1}}},
      {"on the edge", WithTerrain(Meadow(300), {5, 299, 1, 1}, 2), 0.01, 0.99, {{5, 299, 1, 1}}},
      {"a small map", WithTerrain(Meadow(10), {4, 1, 1, 1}, 2), 0.01, 0.99, {{4, 1, 1, 1}}},
      {"across tiles", WithCost(Meadow(512), {25, 90, 14, 14}, 0.5), 0.5, 0.5, {{25, 90, 14, 14}}},
      {"two places",
       WithCost(WithTerrain(Meadow(512), {400, 20, 2, 1}, 2), {30, 450, 1, 3}, 0.1),
       0.01,
       0.99,
       {{400, 20, 2, 1}, {30, 450, 1, 3}}},
      {"cheap everywhere", roads, kRoadCost, 0.0, {}},
      {"and cheaper in one place", WithTerrain(roads, {100, 100, 1, 1}, 2), 0.01, 0.49, {{100, 100, 1, 1}}},
      {"a large place", WithCost(Meadow(128), {10, 10, 100, 100}, 0.5), 0.5, 0.0, {}},
      {"taken back", WithTerrain(gold, {150, 150, 1, 1}, 0), 1.0, 0.0, {}},
      {"below a cell's own cost",
       WithCost(WithTerrain(Meadow(100), {40, 40, 1, 1}, 1), {40, 40, 1, 1}, 3.0),
       1.0,
       0.0,
       {}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    ExpectFloor(one.map, one.everywhere, one.elsewhere);
    EXPECT_THAT(one.map.cost_floor().cheap, UnorderedElementsAreArray(one.cheap));
  }
}

// Holds it against each cell.
void ExpectHolds(const GridMap& map) {
  const CostFloor& floor = map.cost_floor();
  ASSERT_LE(floor.cheap.size(), CostFloor::kMostPlaces);
  ASSERT_GE(floor.elsewhere.straight, 0);
  ASSERT_LT(floor.elsewhere.straight, CostFromDouble(2 * kMaxTerrainCost));
  ASSERT_LE(floor.elsewhere.straight, floor.elsewhere.falling);
  ASSERT_LE(floor.elsewhere.falling, 2 * floor.elsewhere.straight);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell cell{x, y};
      if (!map.IsWalkable(cell)) {
        continue;
      }
      const bool is_cheap = std::any_of(floor.cheap.begin(), floor.cheap.end(),
                                        [&](const Rectangle& place) { return place.Contains(cell); });
      const auto bound = [&](Cost OpenGround<Cost>::*step) {
        return floor.everywhere.*step + (is_cheap ? 0 : floor.elsewhere.*step);
      };
      ASSERT_GE(map.StraightCost(cell), bound(&OpenGround<Cost>::straight)) << x << " " << y;
      if (map.settings().connectivity == Connectivity::kEight) {
        ASSERT_GE(map.DiagonalCost(cell), bound(&OpenGround<Cost>::falling)) << x << " " << y;
      }
    }
  }
}

TEST(CostFloorTest, HoldsInARoomAmidImpassableGround) {
  GridMap map = WithTerrain(GridMap::Create(1280, 64, RoadsAndGold(), 3).value(), {300, 10, 100, 40}, 0);
  ExpectHolds(map);
  ExpectFloor(map, 1.0, 0.0);
  map = WithTerrain(map, {320, 20, 50, 5}, 1);
  ExpectHolds(map);
  ExpectFloor(map, 0.5, 0.5);
}

TEST(CostFloorTest, HoldsForProfilesAfterEdits) {
  GridMap map = Meadow(200);
  const TerrainRules rules({.terrain_costs = {{'-', 0.1}}}, map.settings());
  ExpectFloor(*ViewUnder(map, rules), 1.0, 0.0);
  map = WithTerrain(map, {50, 60, 2, 1}, 1);
  ExpectFloor(*ViewUnder(map, rules), 0.1, 0.9);
  map = WithTerrain(map, {50, 60, 2, 1}, 0);
  ExpectFloor(*ViewUnder(map, rules), 1.0, 0.0);
}

TEST(CostFloorTest, HoldsForEveryCellWhateverWasEdited) {
  int with_places = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const Connectivity connectivity = seed % 3 == 0   ? Connectivity::kFour
                                      : seed % 3 == 1 ? Connectivity::kEight
                                                      : Connectivity::kSix;
    GridMap map = generator.Map(
        {.max_side = 200, .max_cells = 20'000, .weighted = seed % 2 == 0, .connectivity = connectivity});
    for (int round = 0; round < 6; ++round) {
      // One or two cells that are cheaper than all else, now and then in another tile.
      GridMapEditor editor(map);
      for (int i = generator.Between(0, 2); i > 0; --i) {
        editor.SetStepCost(generator.CellOf(map), generator.Between(1, 40) * kCostScale / 100);
      }
      const int terrains = static_cast<int>(map.settings().terrains.size());
      const Cell cell = generator.CellOf(map);
      editor.SetTerrains(cell.y, cell.x, generator.Between(cell.x, map.width() - 1) + 1,
                         static_cast<TerrainId>(generator.Between(0, terrains - 1)));
      map = std::move(editor).Finish();
      if (round % 3 == 2) {
        map = generator.WithStepCostsChanged(map);
      }
      ExpectHolds(map);
      with_places += map.cost_floor().cheap.empty() ? 0 : 1;
    }
    // The same map, made in one go.
    const GridMap copy = Rebuilt(map, map.settings());
    const TerrainTiles& tiles = map.terrain_tiles();
    for (int row = 0; row < tiles.rows(); ++row) {
      ASSERT_EQ(tiles.InRow(row), copy.terrain_tiles().InRow(row));
      for (int column = 0; column < tiles.columns(); ++column) {
        ASSERT_EQ(tiles.At(column, row), copy.terrain_tiles().At(column, row));
      }
    }
  }
  EXPECT_GT(with_places, 100);
}

GridMap Patches(int side, int patch, int costs) {
  Random random(1);
  std::vector<double> values;
  for (int i = 0; i < costs; ++i) {
    values.push_back(1.0 + i);
  }
  return PaintedMap(random, side, patch, values);
}

TEST(CostSurveyTest, CellsOfManyCostsInDisorderAreNoise) {
  for (const int side : {32, 128, 512}) {
    EXPECT_TRUE(Patches(side, 1, 8).HasNoisyCosts());
    EXPECT_TRUE(Patches(side, 2, 8).HasNoisyCosts());
  }
}

TEST(CostSurveyTest, LargerPatchesAndFewCostsAreNot) {
  EXPECT_FALSE(Patches(256, 8, 8).HasNoisyCosts());
  EXPECT_FALSE(Patches(256, 1, 2).HasNoisyCosts());
  EXPECT_FALSE(Patches(256, 1, 1).HasNoisyCosts());
  EXPECT_FALSE(Patches(2, 1, 8).HasNoisyCosts());
}

TEST(CostSurveyTest, FollowsTheTerrain) {
  const GridMap noise = Patches(64, 1, 8);
  GridMapEditor editor(noise);
  for (int y = 0; y < 64; ++y) {
    editor.SetTerrains(y, 0, 64, y < 32 ? 1 : 2);
  }
  EXPECT_FALSE(std::move(editor).Finish().HasNoisyCosts());
}

}  // namespace
}  // namespace waystar::core
