// Paths to the nearest cell by distance, where many cells are equally near.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/testing/generator.h"
#include "tests/testing/layouts.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Generator;
using ::waystar::testing::Oracle;
using ::waystar::testing::PathFault;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

// Makes a round lake.
void Flood(GridMap& map, Cell middle, int radius) {
  const Lattice lattice = LatticeOf(map.settings().connectivity);
  GridMapEditor editor(map);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      if (SquaredDistance(lattice, {x, y}, middle) <= std::int64_t{radius} * radius) {
        editor.SetObstacle({x, y}, true);
      }
    }
  }
  map = std::move(editor).Finish();
}

GridMap LakeOf(Connectivity connectivity, bool is_weighted, int side, int radius) {
  GridSettings settings{.connectivity = connectivity};
  if (connectivity == Connectivity::kSix) {
    settings.diagonal_cost = 1.0;
    settings.frame.hexagons = HexBoard{};
  }
  settings.terrains = {{.symbol = '.', .name = "meadow"}, {.symbol = ',', .name = "mud", .cost = 3.0}};
  GridMap map = GridMap::Create(side, side, std::move(settings)).value();
  if (is_weighted) {
    Random random(5);
    GridMapEditor editor(map);
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        editor.SetTerrains(y, x, x + 1, random.Chance(0.3) ? 1 : 0);
      }
    }
    map = std::move(editor).Finish();
  }
  Flood(map, {side / 2, side / 2}, radius);
  return map;
}

class NearestCliffTest : public ::testing::Test {
 protected:
  absl::StatusOr<PathResult> Find(const GridMap& map, const PathQuery& query, const Budget& budget = {}) {
    return FindPath(map, query, budget, scratch_);
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
};

TEST_F(NearestCliffTest, NoLakeCostsMoreThanOneFloodAndOnePath) {
  for (const Connectivity connectivity : {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}) {
    for (const bool is_weighted : {false, true}) {
      for (const int side : {64, 128, 256}) {
        for (const int radius : {5, 25, side / 3}) {
          if (2 * radius >= side - 4) {
            continue;
          }
          SCOPED_TRACE(absl::StrCat(testing::ConnectivityName(connectivity), is_weighted ? ", weighted" : "",
                                    ", side ", side, ", radius ", radius));
          const GridMap map = LakeOf(connectivity, is_weighted, side, radius);
          PathQuery query{.start = {1, 1},
                          .goal = {side / 2, side / 2},
                          .algorithm = Algorithm::kAStar,
                          .unreachable_policy = UnreachablePolicy::kNearestByDistance};
          const PathResult near = *Find(map, query);
          query.goal = near.end;
          const std::uint64_t path = Find(map, query)->statistics.expanded;
          query.algorithm = Algorithm::kDijkstra;
          const std::uint64_t flood = Find(map, query)->statistics.expanded;
          EXPECT_LE(near.statistics.expanded, flood + path + 2);

          query = {.start = {1, 1},
                   .goal = {side / 2, side / 2},
                   .unreachable_policy = UnreachablePolicy::kNearestByDistance};
          EXPECT_LE(Find(map, query)->statistics.expanded, flood + path + 2);
        }
      }
    }
  }
}

TEST_F(NearestCliffTest, AgreesWithTheOracleAroundLakes) {
  for (std::uint64_t seed = 1; seed <= Rounds(150); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = generator.Map(
        {.max_side = 60, .weighted = seed % 2 == 0, .connectivity = testing::AnyConnectivity(generator)});
    if (seed % 3 == 0) {
      map = generator.WithStepCostsChanged(map);
    }
    const Cell goal = generator.CellOf(map);
    constexpr int kRadii[] = {1, 2, 5, 10, 13, 25};
    Flood(map, goal, kRadii[generator.Between(0, 5)]);
    const int footprint = seed % 7 == 0 ? 2 : 1;
    const auto rule = static_cast<CornerRule>(generator.Between(0, 2));
    const Cell start = generator.WalkableCellOf(map, footprint);
    if (!testing::CanStand(map, start, footprint)) {
      continue;
    }
    const Oracle oracle(map, rule, start, footprint);
    const Cell nearest = oracle.NearestTo(goal);
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra}) {
      const PathQuery query{.start = start,
                            .goal = goal,
                            .corner_rule = rule,
                            .algorithm = algorithm,
                            .unreachable_policy = UnreachablePolicy::kNearestByDistance,
                            .footprint = footprint};
      const auto result = Find(map, query);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_EQ(PathFault(map, rule, start, nearest, result->points, result->cost, footprint), "");
      ASSERT_NEAR(result->cost, *oracle.CostTo(nearest), 1e-6 * (1.0 + result->cost));

      // With less of a budget it leads as far as it came.
      const Budget budget{.max_expansions = result->statistics.expanded / 3};
      const auto part = Find(map, query, budget);
      ASSERT_TRUE(part.ok()) << part.status();
      ASSERT_LE(part->statistics.expanded, budget.max_expansions);
      ASSERT_EQ(PathFault(map, rule, start, part->end, part->points, part->cost, footprint), "");
    }
  }
}

}  // namespace
}  // namespace waystar::core
