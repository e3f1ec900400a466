#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/generator.h"
#include "tests/testing/layouts.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Generator;
using ::waystar::testing::Oracle;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

enum class Ground { kOpen, kRooms, kNoise, kMaze };

GridMap MapOf(Ground ground, Connectivity connectivity, bool is_weighted, int side) {
  GridSettings settings{.connectivity = connectivity};
  if (connectivity == Connectivity::kSix) {
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = HexBoard{};
  }
  if (is_weighted) {
    settings.terrains = {{.symbol = '.', .name = "meadow"}, {.symbol = ',', .name = "mud", .cost = 3.0}};
  }
  GridMap map = GridMap::Create(side, side, std::move(settings)).value();
  Random random(5);
  if (is_weighted) {
    GridMapEditor editor(map);
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        editor.SetTerrains(y, x, x + 1, random.Chance(0.3) ? 1 : 0);
      }
    }
    map = std::move(editor).Finish();
  }
  switch (ground) {
    case Ground::kOpen:
      break;
    case Ground::kRooms:
      testing::LayRooms(random, 12, 0.15, map);
      break;
    case Ground::kNoise:
      testing::LayNoise(random, 0.25, map);
      break;
    case Ground::kMaze:
      testing::LayMaze(random, 2, 0.3, map);
      break;
  }
  return map;
}

// Free cells of a rectangle.
std::vector<Cell> CellsOf(const GridMap& map, const Rectangle& area, int count, Random& random) {
  std::vector<Cell> cells;
  while (std::ssize(cells) < count) {
    const Cell cell{random.Between(area.x, area.x + area.width - 1),
                    random.Between(area.y, area.y + area.height - 1)};
    if (map.IsWalkable(cell)) {
      cells.push_back(cell);
    }
  }
  return cells;
}

class ManyGoalsCliffTest : public ::testing::Test {
 protected:
  std::uint64_t NearestOf(const GridMap& map, const PathQuery& query, const std::vector<Cell>& goals) {
    return FindPathToNearest(map, query, goals, {}, scratch_).value().path.statistics.expanded;
  }
  Scratch& scratch() { return scratch_; }
  std::uint64_t One(const GridMap& map, PathQuery query, Cell goal) {
    query.goal = goal;
    return FindPath(map, query, {}, scratch_).value().statistics.expanded;
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
};

TEST_F(ManyGoalsCliffTest, FarGoalsOnOpenGroundAreSeenAtOnce) {
  for (const int side : {128, 256, 512}) {
    const GridMap map = MapOf(Ground::kOpen, Connectivity::kEight, false, side);
    Random random(1);
    for (const int count : {1, 16, 17, 68, 1000}) {
      EXPECT_LE(
          NearestOf(map, {.start = {1, 1}}, CellsOf(map, {side - 20, side - 20, 20, 20}, count, random)), 2U);
    }
  }
}

TEST_F(ManyGoalsCliffTest, NoGoalMoreCostsMuch) {
  for (const Ground ground : {Ground::kOpen, Ground::kRooms, Ground::kNoise, Ground::kMaze}) {
    for (const Connectivity connectivity : {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}) {
      for (const bool is_weighted : {false, true}) {
        SCOPED_TRACE(absl::StrCat("ground ", static_cast<int>(ground), ", ",
                                  testing::ConnectivityName(connectivity), is_weighted ? ", weighted" : ""));
        const GridMap map = MapOf(ground, connectivity, is_weighted, 160);
        Random random(2);
        const PathQuery query{.start = CellsOf(map, {1, 1, 10, 10}, 1, random)[0],
                              .algorithm = is_weighted ? Algorithm::kAStar : Algorithm::kAuto};
        // Those that come later are no nearer.
        std::vector<Cell> goals = CellsOf(map, {130, 130, 4, 4}, 16, random);
        const std::vector<Cell> others = CellsOf(map, {140, 140, 19, 19}, 240, random);
        const std::uint64_t sixteen = NearestOf(map, query, goals);
        for (const std::size_t count : {17U, 34U, 68U, 256U}) {
          goals.insert(goals.end(), others.begin(),
                       others.begin() + static_cast<std::ptrdiff_t>(count - goals.size()));
          EXPECT_LE(NearestOf(map, query, goals), sixteen + sixteen / 8 + 2);
        }
      }
    }
  }
}

TEST_F(ManyGoalsCliffTest, NoneCostsMoreThanOneByOneOrOneFlood) {
  for (const Ground ground : {Ground::kOpen, Ground::kRooms, Ground::kNoise, Ground::kMaze}) {
    for (const Connectivity connectivity : {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}) {
      for (const bool is_weighted : {false, true}) {
        for (const CornerRule rule :
             {CornerRule::kNoCornerCutting, CornerRule::kOneSideFree, CornerRule::kAlways}) {
          SCOPED_TRACE(absl::StrCat("ground ", static_cast<int>(ground), ", ",
                                    testing::ConnectivityName(connectivity), is_weighted ? ", weighted" : "",
                                    ", rule ", static_cast<int>(rule)));
          const GridMap map = MapOf(ground, connectivity, is_weighted, 72);
          Random random(3);
          PathQuery query{.start = CellsOf(map, {31, 31, 10, 10}, 1, random)[0],
                          .corner_rule = rule,
                          .algorithm = is_weighted ? Algorithm::kAStar : Algorithm::kAuto};
          // On all sides, so that no heuristic helps; and on one.
          for (const Rectangle& area : {Rectangle{0, 0, 72, 72}, Rectangle{50, 50, 22, 22}}) {
            std::vector<Cell> goals = CellsOf(map, area, 150, random);
            std::erase_if(goals, [&](Cell cell) {
              return std::max(std::abs(cell.x - 36), std::abs(cell.y - 36)) < 18 ||
                     FindPath(map, {.start = query.start, .goal = cell, .corner_rule = rule}, {}, scratch())
                             .value()
                             .outcome != Outcome::kFound;
            });
            goals.resize(std::min<std::size_t>(goals.size(), 34));
            const auto nearest = FindPathToNearest(map, query, goals, {}, scratch()).value();
            std::uint64_t one_by_one = 0;
            for (const Cell goal : goals) {
              one_by_one += One(map, query, goal);
            }
            EXPECT_LE(nearest.path.statistics.expanded, one_by_one);
            query.algorithm = Algorithm::kDijkstra;
            // The flood finds which it is and the way to it; the path of a nearest goal is searched for
            // again.
            const std::uint64_t flood = One(map, query, goals[nearest.goal_index]);
            EXPECT_LE(NearestOf(map, query, goals), 2 * flood + 2);
            query.algorithm = is_weighted ? Algorithm::kAStar : Algorithm::kAuto;
            EXPECT_LE(nearest.path.statistics.expanded, 2 * flood + 2);
          }
        }
      }
    }
  }
}

// Every choice among many goals, against textbook Dijkstra.
TEST_F(ManyGoalsCliffTest, AgreesWithTheOracleOnManyGoals) {
  for (std::uint64_t seed = 1; seed <= Rounds(150); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = generator.Map(
        {.max_side = 70, .weighted = seed % 2 == 0, .connectivity = testing::AnyConnectivity(generator)});
    if (seed % 3 == 0) {
      map = generator.WithStepCostsChanged(map);
    }
    const int footprint = seed % 7 == 0 ? 2 : 1;
    const auto rule = static_cast<CornerRule>(generator.Between(0, 2));
    const Cell start = generator.WalkableCellOf(map, footprint);
    if (!testing::CanStand(map, start, footprint)) {
      continue;
    }
    const Oracle oracle(map, rule, start, footprint);
    // Around a cell, so that many are about as far.
    const Cell middle = seed % 4 == 0 ? start : generator.CellOf(map);
    const int radius = generator.Between(1, 40);
    std::vector<Cell> goals = {generator.WalkableCellOf(map, footprint)};
    for (int i = generator.Between(16, 300); i > 0; --i) {
      const int side = generator.Between(0, 3);
      const int along = generator.Between(-radius, radius);
      const Cell goal{middle.x + (side < 2    ? along
                                  : side == 2 ? radius
                                              : -radius),
                      middle.y + (side >= 2   ? along
                                  : side == 0 ? radius
                                              : -radius)};
      if (map.bounds().Contains(goal)) {
        goals.push_back(goal);
      }
    }
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const std::optional<double> cost = oracle.CostTo(goals[i]);
      if (cost && (!nearest || *cost < *oracle.CostTo(goals[*nearest]) - 1e-6)) {
        nearest = i;
      }
    }
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra}) {
      const auto result = FindPathToNearest(
          map, {.start = start, .corner_rule = rule, .algorithm = algorithm, .footprint = footprint}, goals,
          {}, scratch());
      if (!result.ok()) {
        ASSERT_FALSE(nearest) << result.status();
        continue;
      }
      ASSERT_EQ(result->path.outcome, nearest ? Outcome::kFound : Outcome::kUnreachable);
      if (nearest) {
        ASSERT_EQ(result->goal_index, *nearest);
        ASSERT_NEAR(result->path.cost, *oracle.CostTo(goals[*nearest]), 1e-6 * (1.0 + result->path.cost));
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
