// Cells that are far cheaper than all others, and terrains that cost the same, cost searches little more.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/plain_cells.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/search/interruption.h"
#include "tests/core/cliffs/cliff_maps.h"
#include "tests/testing/layouts.h"
#include "tests/testing/plainness.h"
#include "tests/testing/profiles.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

GridMap WithDisc(const GridMap& map, Cell centre, int radius, double cost) {
  GridMapEditor editor(map);
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) {
      if (x * x + y * y <= radius * radius) {
        editor.SetStepCost({centre.x + x, centre.y + y}, CostFromDouble(cost));
      }
    }
  }
  return std::move(editor).Finish();
}

// The terrain of the maps to come.
constexpr TerrainId kGold = 1;

GridMap WithTerrain(const GridMap& map, Cell cell, TerrainId terrain) {
  GridMapEditor editor(map);
  editor.SetTerrains(cell.y, cell.x, cell.x + 1, terrain);
  return std::move(editor).Finish();
}

struct PricedMap {
  std::string name;
  GridMap map;
  // How many times as much a search may expand as without them.
  double factor = 1.5;
};

// The map with some cells that are far cheaper than all others, in the middle, apart and in a corner.
std::vector<PricedMap> WithCheapPlaces(const GridMap& map) {
  const int side = map.width();
  const Cell middle{side / 2, side / 2};
  const Cell corner{side - 20, 20};
  return {
      {"gold that lies in the middle", WithTerrain(map, middle, kGold)},
      {"gold that lies in a corner", WithTerrain(map, corner, kGold)},
      {"a cell", WithDisc(map, middle, 0, 0.1)},
      {"a disc", WithDisc(map, corner, 4, 0.5)},
      {"cells of several costs",
       WithDisc(WithDisc(WithTerrain(map, {20, side - 20}, kGold), middle, 1, 0.25), corner, 2, 0.5), 2.5}};
}

class CheapPlacesCliffTest : public ::testing::Test {
 protected:
  // Pairs of cells in all parts of the map with a way between them.
  std::vector<PathQuery> QueriesOn(const GridMap& map) {
    Random random(3);
    std::vector<PathQuery> queries;
    while (queries.size() < 12) {
      const auto any = [&] { return random.Between(0, map.width() - 1); };
      const PathQuery query{.start = {any(), any()}, .goal = {any(), any()}};
      const auto result = FindPath(map, query, {}, scratch_);
      if (map.IsWalkable(query.start) && result.ok() && result->outcome == Outcome::kFound) {
        queries.push_back(query);
      }
    }
    return queries;
  }

  std::uint64_t ExpandedFor(const GridMap& map, std::vector<PathQuery> queries, Algorithm algorithm) {
    std::uint64_t expanded = 0;
    for (PathQuery& query : queries) {
      query.algorithm = algorithm;
      expanded += FindPath(map, query, {}, scratch_).value().statistics.expanded;
    }
    return expanded;
  }

  // Expects that searches expand little more on maps with cheap places than on what `without` makes of a map.
  template <typename Without, typename ExpandedOn>
  void ExpectLittleMore(const std::vector<int>& sides, const std::vector<Connectivity>& connectivities,
                        Without without, ExpandedOn expanded_on) {
    const MapRange range{.sides = sides,
                         .connectivities = connectivities,
                         .prices = {CellPrices::kOne},
                         .layouts = {Layout::kRooms, Layout::kNoise, Layout::kMaze, Layout::kCaves}};
    ForEachMap(range, [&](const GridMap& plain) {
      const GridMap map = WithPreciousTerrains(plain);
      const std::vector<PathQuery> queries = QueriesOn(map);
      const auto most = static_cast<double>(expanded_on(without(map), queries));
      for (const PricedMap& places : WithCheapPlaces(map)) {
        SCOPED_TRACE(places.name);
        EXPECT_LE(expanded_on(places.map, queries), places.factor * most);
      }
    });
  }

  // The map without any of the terrain that is cheap.
  static GridMap WithPreciousTerrains(const GridMap& map) {
    GridSettings settings = map.settings();
    settings.terrains = {{.symbol = '.', .name = "meadow"}, {.symbol = '$', .name = "gold", .cost = 0.05}};
    return Rebuilt(map, std::move(settings));
  }

  const std::vector<Connectivity> all_ = {std::begin(kConnectivities), std::end(kConnectivities)};
  Scratch scratch_{std::size_t{1} << 28};
};

TEST_F(CheapPlacesCliffTest, AStarExpandsLittleMoreThanWithoutThem) {
  ExpectLittleMore(
      {96, 192, 384}, all_, [](const GridMap& map) { return map; },
      [&](const GridMap& map, const std::vector<PathQuery>& queries) {
        return ExpandedFor(map, queries, Algorithm::kAStar);
      });
}

TEST_F(CheapPlacesCliffTest, JumpsExpandLittleMoreThanBesideDearPlaces) {
  ExpectLittleMore(
      {96, 192, 384}, {Connectivity::kEight},
      [](const GridMap& map) {
        return WithDisc(map, {map.width() / 2, map.width() / 2}, 0, 2.0);
      },
      [&](const GridMap& map, const std::vector<PathQuery>& queries) {
        return ExpandedFor(map, queries, Algorithm::kAuto);
      });
}

// The map with `count` terrains at random in place of each of its own, of its cost: none lies in one piece.
GridMap WithTerrainsOfOneCost(const GridMap& map, int count) {
  GridSettings settings = map.settings();
  settings.terrains.clear();
  char symbol = '$';
  for (const Terrain& terrain : map.settings().terrains) {
    for (int i = 0; i < count; ++i, ++symbol) {
      while (IsObstacleSymbol(symbol)) {
        ++symbol;
      }
      settings.terrains.push_back({.symbol = symbol, .name = std::string(1, symbol), .cost = terrain.cost});
    }
  }
  const GridMap blank = GridMap::Create(map.width(), map.height(), std::move(settings)).value();
  Random random(8);
  GridMapEditor editor(blank);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      editor.SetTerrains(
          y, x, x + 1, static_cast<TerrainId>(map.TerrainAt({x, y}) * count + random.Between(0, count - 1)));
      editor.SetObstacle({x, y}, !map.IsWalkable({x, y}));
    }
  }
  return std::move(editor).Finish();
}

class SameTerrainsCliffTest : public ::testing::Test {
 protected:
  // Returns the expansions of queries of every kind.
  std::vector<std::uint64_t> ExpandedOn(const GridMap& map, const std::vector<Cell>& part) {
    std::vector<std::uint64_t> expanded;
    const std::vector<Cell> cells = AnyOf(part, 24, 1);
    const std::vector<Cell> goals(cells.begin() + 8, cells.end());
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar}) {
      std::uint64_t sum = 0;
      for (std::size_t i = 1; i < cells.size(); ++i) {
        sum += FindPath(map, {.start = cells[i - 1], .goal = cells[i], .algorithm = algorithm}, {}, scratch_)
                   .value()
                   .statistics.expanded;
      }
      expanded.push_back(sum);
    }
    expanded.push_back(
        FindPathToNearest(map, {.start = cells[0]}, goals, {}, scratch_).value().path.statistics.expanded);
    expanded.push_back(FindReachable(map, {.start = cells[0]}, {}, field_scratch_).value().expanded);
    NoWorld world;
    expanded.push_back(
        ComputeCostMatrix(map, world, {.starts = cells, .goals = goals}, {}, scratch_, field_scratch_)
            .value()
            .expanded);
    return expanded;
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
  FieldScratch field_scratch_;
};

TEST_F(SameTerrainsCliffTest, ManyAreAsOne) {
  ForEachMap({.sides = {96}, .prices = {CellPrices::kOne, CellPrices::kMud}}, [&](const GridMap& map) {
    const std::vector<Cell> part = LargestPart(map);
    const std::vector<std::uint64_t> one = ExpandedOn(WithTerrainsOfOneCost(map, 1), part);
    for (const int count : {2, 16, 43}) {
      SCOPED_TRACE(absl::StrCat(count, " terrains"));
      EXPECT_EQ(ExpandedOn(WithTerrainsOfOneCost(map, count), part), one);
    }
  });
}

// Searches over cells of different costs judge cells in proportion to what they look at, however large the
// map is and however many terrains it has.

// A map whose cells have one of `terrains` terrains at random, in turn of the costs 1 to `costs`.
GridMap Noise(int side, int terrains, int costs) {
  Random random(5);
  std::vector<double> values;
  for (int i = 0; i < terrains; ++i) {
    values.push_back(1.0 + i % costs);
  }
  return PaintedMap(random, side, 1, values);
}

TEST(PlainCellsCliffTest, EachNeighbourhoodIsJudgedAboutOnce) {
  for (const int side : {128, 256, 512}) {
    const PlainCells::Work work = JudgeAll(Noise(side, 2, 2));
    EXPECT_EQ(work.cells, static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side));
    EXPECT_LE(work.neighbourhoods, 8U * 512) << "side " << side;
  }
}

TEST(PlainCellsCliffTest, NoNewMapIsJudged) {
  GridMap map = Noise(256, 3, 3);
  map.Prepare();
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      EXPECT_EQ(map.plain_cells().Find(column, row), nullptr);
    }
  }
}

class FreshProfileCliffTest : public ::testing::Test {
 protected:
  static GridMap MapOf(int side) { return Noise(side, 20, 3); }

  PathResult Find(const GridMap& map, const PathQuery& query, std::uint64_t upkeep) {
    Upkeep left(upkeep);
    const auto result = FindPath(map, query, {.upkeep = &left}, scratch_);
    upkeep_left_ = left.left();
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  static constexpr std::uint64_t kPlenty = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t upkeep_left_ = 0;
  Scratch scratch_{std::size_t{1} << 28};
};

TEST_F(FreshProfileCliffTest, AShortQueryPaysForWhereItGoes) {
  for (const int side : {256, 512, 1024}) {
    const GridMap map = MapOf(side);
    const auto view = ViewUnder(map, TerrainRules({.terrain_costs = {{'a', 2.5}}}, map.settings()));
    Find(*view, {.start = {100, 100}, .goal = {115, 110}, .algorithm = Algorithm::kJumpPoint}, kPlenty);
    // Four tiles of cells that are all different.
    EXPECT_LE(kPlenty - upkeep_left_, 4U * (64 + 4 * 64 * 64)) << "side " << side;
    EXPECT_GT(kPlenty - upkeep_left_, 0U);
  }
}

TEST_F(FreshProfileCliffTest, WithoutUpkeepASearchEndsAtOnce) {
  const GridMap map = MapOf(512);
  const PathQuery query{.start = {5, 5}, .goal = {500, 500}, .algorithm = Algorithm::kJumpPoint};
  PathResult result = Find(map, query, 0);
  EXPECT_EQ(result.reason, OutcomeReason::kExpansionLimit);
  EXPECT_LE(result.statistics.expanded, 1U);
  for (int i = 0; i < 1000 && result.reason == OutcomeReason::kExpansionLimit; ++i) {
    result = Find(map, query, 4096);
  }
  EXPECT_EQ(result.reason, OutcomeReason::kGoalReached) << "what a search judged is there for the next";
}

}  // namespace
}  // namespace waystar::core
