// What floods of weighted maps make use of, against what is obvious.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::CanStand;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::Oracle;

bool AreAlike(const CellCosts::Entry& a, const CellCosts::Entry& b) {
  return a.straight == b.straight && a.diagonal == b.diagonal;
}

// Of a step into the cell by a large agent, by asking for each cell below it.
CellCosts::Entry CostOf(const GridMap& map, Cell cell, int footprint) {
  CellCosts::Entry dearest;
  for (int y = cell.y; y < cell.y + footprint; ++y) {
    for (int x = cell.x; x < cell.x + footprint; ++x) {
      dearest.straight = std::max(dearest.straight, map.StraightCost({x, y}));
      dearest.diagonal = std::max(dearest.diagonal, map.DiagonalCost({x, y}));
    }
  }
  return dearest;
}

class WeightedGroundTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(WeightedGroundTest, NumbersCostsAndKnowsEvenCells) {
  const Agent& agent = GetParam().agent;
  int even_cells = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, seed % 3 == 0 ? 140 : 30);
    if (map.HasUniformCost()) {
      continue;
    }
    const Cell corner = generator.CellOf(map);
    const Rectangle region = Extend(Extend({}, corner), generator.CellOf(map));
    FloodGround ground;
    ground.Read(map, *map.walk(agent.footprint), agent.footprint, agent.corner_rule, region);
    const auto moves = [&](Cell cell) { return ground.moves()[ground.IndexOf(cell)]; };
    for (std::uint32_t i = 0; i < ground.cell_count(); ++i) {
      const Cell cell = ground.CellOf(i);
      if (moves(cell) == 0) {
        continue;
      }
      const CellCosts::Entry cost = CostOf(map, cell, agent.footprint);
      const CostNumbers& numbers = ground.numbers();
      ASSERT_TRUE(
          AreAlike(numbers.empty() ? ground.entering()[i] : numbers.costs()[numbers.numbers()[i]], cost))
          << cell.x << "," << cell.y;
      ASSERT_LE(std::max(cost.straight, cost.diagonal), ground.max_step());
      if (numbers.empty() || !ground.is_eight_connected()) {
        continue;
      }
      bool is_even = true;
      for (int d = 0; d < kDirectionCount; ++d) {
        const Cell near = Step(cell, static_cast<Direction>(d));
        is_even = is_even && (!ground.Contains(near) || moves(near) == 0 ||
                              AreAlike(CostOf(map, near, agent.footprint), cost));
      }
      ASSERT_EQ(ground.even_cells().Test(i), is_even) << cell.x << "," << cell.y;
      even_cells += is_even ? 1 : 0;
    }
  }
  EXPECT_EQ(even_cells > 0, GetParam().connectivity == Connectivity::kEight);
}

std::vector<MapAndAgent> Weighted() {
  std::vector<MapAndAgent> weighted = EveryMapAndAgent();
  std::erase_if(weighted, [](const MapAndAgent& one) { return !one.weighted && !one.own_costs; });
  return weighted;
}

INSTANTIATE_TEST_SUITE_P(Agents, WeightedGroundTest, ::testing::ValuesIn(Weighted()), NameOf);

// More costs than there are numbers, and a step so dear that buckets are wider than the cheapest.
TEST(WeightedFloodTest, IsRightWhereCostsAreManyOrFarApart) {
  FieldScratch scratch;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const GridMap base = generator.Map({.max_side = 40});
    GridMapEditor editor(base);
    const Rectangle bounds = base.bounds();
    for (int i = 0; i < bounds.width * bounds.height; ++i) {
      const double cost = seed % 2 == 0 ? 1.0 + 0.01 * i : generator.Chance(0.5) ? 0.02 : 500.0;
      editor.SetStepCost({i % bounds.width, i / bounds.width}, CostFromDouble(cost));
    }
    const GridMap map = std::move(editor).Finish();
    const Cell start = generator.WalkableCellOf(map);
    if (!CanStand(map, start)) {
      continue;
    }
    const auto reachable = FindReachable(map, {.start = start, .want_costs = true}, {}, scratch);
    ASSERT_THAT(reachable, IsOk());
    const Oracle oracle(map, CornerRule::kNoCornerCutting, start);
    std::size_t next = 0;
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        if (const std::optional<double> cost = oracle.CostTo({x, y})) {
          ASSERT_NEAR(reachable->costs.at(next++), *cost, 1e-6 * (1.0 + *cost)) << x << "," << y;
        }
      }
    }
    EXPECT_EQ(next, reachable->costs.size());
  }
}

}  // namespace
}  // namespace waystar::core
