#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/map/profile_views.h"
#include "tests/testing/generator.h"
#include "tests/testing/layouts.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Random;

enum class Layout { kRooms, kNoise, kMaze, kCaves };

GridMap MapWith(Layout ground, Connectivity connectivity, int side) {
  GridSettings settings{.connectivity = connectivity,
                        .terrains = {{.symbol = '.', .name = "meadow"},
                                     {.symbol = '$', .name = "gold", .cost = 0.05},
                                     {.symbol = '-', .name = "road"}}};
  if (connectivity == Connectivity::kSix) {
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = HexBoard{};
  }
  GridMap map = GridMap::Create(side, side, std::move(settings)).value();
  Random random(5);
  switch (ground) {
    case Layout::kRooms:
      testing::LayRooms(random, 12, 0.15, map);
      break;
    case Layout::kNoise:
      testing::LayNoise(random, 0.25, map);
      break;
    case Layout::kMaze:
      testing::LayMaze(random, 3, 0.3, map);
      break;
    case Layout::kCaves:
      testing::LayCaves(random, 3, map);
      break;
  }
  return map;
}

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

GridMap WithGold(const GridMap& map, Cell cell) {
  GridMapEditor editor(map);
  editor.SetTerrains(cell.y, cell.x, cell.x + 1, 1);
  return std::move(editor).Finish();
}

struct Places {
  std::string name;
  GridMap map;
  // How many times as much a search may expand as without them.
  double factor = 1.5;
};

// The map with some cells that are far cheaper than all others, in the middle, apart and in a corner.
std::vector<Places> WithCheapPlaces(const GridMap& map) {
  const int side = map.width();
  const Cell middle{side / 2, side / 2};
  const Cell corner{side - 20, 20};
  return {{"gold that lies in the middle", WithGold(map, middle)},
          {"gold that lies in a corner", WithGold(map, corner)},
          {"a cell", WithDisc(map, middle, 0, 0.1)},
          {"a disc", WithDisc(map, corner, 4, 0.5)},
          {"cells of several costs",
           WithDisc(WithDisc(WithGold(map, {20, side - 20}), middle, 1, 0.25), corner, 2, 0.5), 2.5}};
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

  std::uint64_t ExpandedForNearest(const GridMap& map, const std::vector<PathQuery>& queries) {
    std::vector<Cell> goals;
    for (const PathQuery& query : queries) {
      goals.push_back(query.goal);
    }
    std::uint64_t expanded = 0;
    for (PathQuery query : queries) {
      query.algorithm = Algorithm::kAStar;
      expanded += FindPathToNearest(map, query, goals, {}, scratch_).value().path.statistics.expanded;
    }
    return expanded;
  }

  Scratch scratch_{std::size_t{1} << 28};
};

void ForEachMap(const std::vector<int>& sides, const std::vector<Connectivity>& connectivities,
                const std::function<void(const GridMap&)>& visit) {
  for (const Layout ground : {Layout::kRooms, Layout::kNoise, Layout::kMaze, Layout::kCaves}) {
    for (const Connectivity connectivity : connectivities) {
      for (const int side : sides) {
        SCOPED_TRACE(absl::StrCat("ground ", static_cast<int>(ground), ", ",
                                  testing::ConnectivityName(connectivity), ", side ", side));
        visit(MapWith(ground, connectivity, side));
      }
    }
  }
}

const std::vector<Connectivity> kAllConnectivities = {Connectivity::kFour, Connectivity::kEight,
                                                      Connectivity::kSix};

TEST_F(CheapPlacesCliffTest, AStarExpandsLittleMoreThanWithoutThem) {
  ForEachMap({96, 192, 384}, kAllConnectivities, [&](const GridMap& map) {
    const std::vector<PathQuery> queries = QueriesOn(map);
    const std::uint64_t without = ExpandedFor(map, queries, Algorithm::kAStar);
    for (const Places& places : WithCheapPlaces(map)) {
      SCOPED_TRACE(places.name);
      EXPECT_LE(ExpandedFor(places.map, queries, Algorithm::kAStar),
                places.factor * static_cast<double>(without));
    }
  });
}

TEST_F(CheapPlacesCliffTest, JumpsExpandLittleMoreThanBesideDearPlaces) {
  ForEachMap({96, 192, 384}, {Connectivity::kEight}, [&](const GridMap& map) {
    const std::vector<PathQuery> queries = QueriesOn(map);
    const GridMap dear = WithDisc(map, {map.width() / 2, map.width() / 2}, 0, 2.0);
    const std::uint64_t without = ExpandedFor(dear, queries, Algorithm::kAuto);
    for (const Places& places : WithCheapPlaces(map)) {
      SCOPED_TRACE(places.name);
      EXPECT_LE(ExpandedFor(places.map, queries, Algorithm::kAuto),
                places.factor * static_cast<double>(without));
    }
  });
}

TEST_F(CheapPlacesCliffTest, SearchesForTheNearestGoalToo) {
  ForEachMap({96, 192}, kAllConnectivities, [&](const GridMap& map) {
    const std::vector<PathQuery> queries = QueriesOn(map);
    // All of it costs the same, but searches do not know that.
    const std::uint64_t without =
        ExpandedForNearest(WithDisc(map, {map.width() / 2, map.width() / 2}, 0, 1.001), queries);
    for (const Places& places : WithCheapPlaces(map)) {
      SCOPED_TRACE(places.name);
      EXPECT_LE(ExpandedForNearest(places.map, queries), places.factor * static_cast<double>(without));
    }
  });
}

// Terrain that a profile makes cheap, and that lies somewhere else than what is cheap for others.
TEST_F(CheapPlacesCliffTest, EachProfileHasItsOwn) {
  ForEachMap({192}, {Connectivity::kEight}, [&](const GridMap& map) {
    const std::vector<PathQuery> queries = QueriesOn(map);
    const std::uint64_t without = ExpandedFor(map, queries, Algorithm::kAStar);
    GridMapEditor editor(map);
    editor.SetTerrains(90, 100, 104, 2);
    const GridMap with_road = std::move(editor).Finish();
    const TerrainRules rules({.terrain_costs = {{'-', 0.1}}}, map.settings());
    EXPECT_LE(ExpandedFor(*ViewUnder(with_road, rules), queries, Algorithm::kAStar), without + without / 2);
  });
}

}  // namespace
}  // namespace waystar::core
