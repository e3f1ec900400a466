#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

std::size_t IndexOf(const GridMap& map, Cell cell) {
  return static_cast<std::size_t>(cell.y * map.width() + cell.x);
}

// Returns the cost of each cell that is reached, row by row.
std::vector<std::optional<double>> CostsOf(const GridMap& map, const ReachableCells& reachable) {
  const auto row_bytes = static_cast<std::size_t>((reachable.bounds.width + 7) / 8);
  std::vector<std::optional<double>> costs(static_cast<std::size_t>(map.bounds().area()));
  std::size_t next = 0;
  for (int y = 0; y < reachable.bounds.height; ++y) {
    for (int x = 0; x < reachable.bounds.width; ++x) {
      const std::uint8_t byte =
          reachable.bits[static_cast<std::size_t>(y) * row_bytes + static_cast<std::size_t>(x / 8)];
      if ((byte >> (x % 8) & 1U) != 0) {
        costs[IndexOf(map, {reachable.bounds.x + x, reachable.bounds.y + y})] = reachable.costs.at(next++);
      }
    }
  }
  EXPECT_EQ(next, reachable.costs.size());
  EXPECT_EQ(next, static_cast<std::size_t>(reachable.count));
  return costs;
}

// Expects the cells that `cost_of` has a cost for, up to `max_cost`, at that cost.
template <typename CostOf>
void ExpectCosts(const GridMap& map, const absl::StatusOr<ReachableCells>& reachable, CostOf cost_of,
                 double max_cost = std::numeric_limits<double>::infinity()) {
  ASSERT_THAT(reachable, IsOk());
  const std::vector<std::optional<double>> costs = CostsOf(map, *reachable);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
    const std::optional<double> cost = cost_of(cell);
    if (cost && std::abs(*cost - max_cost) < 1e-5) {
      continue;
    }
    ASSERT_EQ(costs[i].has_value(), cost && *cost <= max_cost) << cell.x << "," << cell.y;
    if (cost && costs[i]) {
      ASSERT_NEAR(*costs[i], *cost, 1e-6 * (1.0 + *cost)) << cell.x << "," << cell.y;
    }
  }
}

TEST(ReachableTest, CountsACostThatIsExactlyTheLimit) {
  FieldScratch scratch;
  const GridMap map = DrawMap({".....", ".....", ".....", ".....", "....."});
  const auto three_diagonals =
      FindReachable(map, {.start = {0, 0}, .max_cost = 3 * std::sqrt(2.0)}, {}, scratch);
  ASSERT_TRUE(three_diagonals.ok());
  EXPECT_EQ(three_diagonals->bounds, (Rectangle{0, 0, 5, 5}));
  const auto nothing = FindReachable(map, {.start = {2, 2}, .max_cost = 0.0}, {}, scratch);
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(nothing->bounds, (Rectangle{2, 2, 1, 1}));
  EXPECT_EQ(nothing->count, 1);
}

TEST(ReachableTest, RefusesBadQuestions) {
  FieldScratch scratch;
  const GridMap map = DrawMap({"..#", "...", "..."});
  const auto ask = [&](const ReachQuery& query) { return FindReachable(map, query, {}, scratch); };
  EXPECT_THAT(ask({.start = {3, 0}}), IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "start"));
  EXPECT_THAT(ask({.start = {2, 0}}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "start"));
  for (const double cost : {-1.0, -std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_THAT(ask({.max_cost = cost}),
                IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "max_cost"));
  }
  EXPECT_THAT(ask({.region = Rectangle{0, 0, 0, 2}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadRectangle, "region.width"));
  EXPECT_THAT(ask({.region = Rectangle{0, 0, 2, -1}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadRectangle, "region.height"));
  EXPECT_THAT(ask({.region = Rectangle{1, 1, 3, 1}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "region"));
  EXPECT_THAT(ask({.region = Rectangle{1, 1, 2, 2}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "start"));
  EXPECT_THAT(ask({.agent = {.footprint = 33}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "footprint"));
  EXPECT_TRUE(ask({.max_cost = std::numeric_limits<double>::infinity()}).ok());
}

TEST(ReachableTest, RefusesMoreCellsThanItHolds) {
  const auto map = GridMap::Create(4096, 2048, {});
  ASSERT_TRUE(map.ok());
  FieldScratch scratch;
  EXPECT_THAT(FindReachable(*map, {}, {}, scratch),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, "region"));
  EXPECT_TRUE(FindReachable(*map, {.max_cost = 10.0}, {}, scratch).ok());
}

TEST(ReachableTest, StopsWhenToldTo) {
  FieldScratch scratch;
  const GridMap map = DrawMap({"..", ".."});
  const std::atomic<bool> yes = true;
  EXPECT_THAT(FindReachable(map, {}, {.cancelled = &yes}, scratch),
              IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
}

TEST(ReachableTest, LooksNoFurtherThanPortalsCanLead) {
  const auto plain = GridMap::Create(4096, 2048, {});
  ASSERT_TRUE(plain.ok());
  const GridMap map = With(*plain, {Between("near", {5, 0}, {40, 30}), Between("far", {0, 90}, {4000, 2000}),
                                    Between("dear", {3, 0}, {4000, 2000}, 21.0)});
  FieldScratch scratch;
  const auto reachable = FindReachable(map, {.start = {0, 0}, .max_cost = 20.0}, {}, scratch);
  ASSERT_THAT(reachable, IsOk());
  EXPECT_EQ(reachable->bounds, (Rectangle{0, 0, 55, 45}));
  EXPECT_THAT(FindReachable(map, {.start = {0, 0}, .max_cost = 24.0}, {}, scratch),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kRegionTooLarge, "region"));
}

class GeneratedReachableTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
  const Agent& agent() const { return GetParam().agent; }

  FieldScratch scratch_;
};

TEST_P(GeneratedReachableTest, AgreesWithTheOracle) {
  const std::vector<std::string> wide = {"wide"};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const int portals = seed % 2 == 0 ? 0 : generator.Between(1, 12);
    Maps world = GetParam().MakeWorld(generator, {"home"}, seed % 5 == 0 ? 140 : 32, portals);
    // At whose ends a large agent may find no room.
    world.AddPortals(generator, portals / 3);
    const GridMap& map = world.maps.at("home");
    Agent agent = GetParam().agent;
    if (generator.Chance(0.3)) {
      agent.required_tags = wide;
    }
    const Cell start = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, start, agent.footprint)) {
      continue;
    }
    const double max_cost =
        generator.Chance(0.7) ? 0.37 * generator.Between(0, 60) : std::numeric_limits<double>::infinity();
    const WorldOracle oracle(world.maps, WalkerOf(agent), "home", start);
    ExpectCosts(
        map,
        FindReachable(map, {.start = start, .agent = agent, .max_cost = max_cost, .want_costs = true}, {},
                      scratch_),
        [&](Cell cell) { return oracle.CostTo("home", cell); }, max_cost);
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(GeneratedReachableTest, KnowsTheWayBackToo) {
  for (std::uint64_t seed = 100; seed < 125; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const Maps world = GetParam().MakeWorld(generator, {"home"}, 70, generator.Between(0, 12));
    const GridMap& map = world.maps.at("home");
    const Cell goal = generator.WalkableCellOf(map, agent().footprint);
    if (!CanStand(map, goal, agent().footprint)) {
      continue;
    }
    const auto reachable = FindReachable(
        map, {.start = goal, .agent = agent(), .sense = FloodSense::kToSeeds, .want_costs = true}, {},
        scratch_);
    ASSERT_THAT(reachable, IsOk());
    const std::vector<std::optional<double>> costs = CostsOf(map, *reachable);
    for (int i = 0; i < 8; ++i) {
      const Cell cell = generator.CellOf(map);
      const std::optional<double> cost =
          WorldOracle(world.maps, WalkerOf(agent()), "home", cell).CostTo("home", goal);
      ASSERT_EQ(costs[IndexOf(map, cell)].has_value(), cost.has_value()) << cell.x << "," << cell.y;
      ASSERT_NEAR(costs[IndexOf(map, cell)].value_or(0.0), cost.value_or(0.0),
                  1e-6 * (1.0 + cost.value_or(0.0)));
    }
  }
}

// As if everything outside were blocked. Agents of one cell: what is blocked is what they stand on.
TEST_P(GeneratedReachableTest, StaysInTheRegion) {
  Agent small = agent();
  small.footprint = 1;
  for (std::uint64_t seed = 200; seed < 240; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Maps world = GetParam().MakeWorld(generator, {"home"}, 40, generator.Between(0, 8));
    const GridMap map = world.maps.at("home");
    const Cell start = generator.WalkableCellOf(map);
    const Rectangle region =
        Extend(Extend({start.x, start.y, 1, 1}, generator.CellOf(map)), generator.CellOf(map));
    if (!map.IsWalkable(start)) {
      continue;
    }
    Shape outside;
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        if (Intersect(region, {x, y, 1, 1}).empty()) {
          outside.cells.push_back({x, y});
        }
      }
    }
    if (const auto walled = ApplyEdits(map, {BlockCells{outside}}); walled.ok()) {
      world.maps.at("home") = walled->map;
    }
    const WorldOracle oracle(world.maps, WalkerOf(small), "home", start);
    ExpectCosts(map,
                FindReachable(map, {.start = start, .agent = small, .region = region, .want_costs = true}, {},
                              scratch_),
                [&](Cell cell) { return oracle.CostTo("home", cell); });
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedReachableTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

// More costs than there are numbers, and a step so dear that buckets are wider than the cheapest.
TEST(ReachableTest, IsRightWhereCostsAreManyOrFarApart) {
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
    if (CanStand(map, start)) {
      const Oracle oracle(map, CornerRule::kNoCornerCutting, start);
      ExpectCosts(map, FindReachable(map, {.start = start, .want_costs = true}, {}, scratch),
                  [&](Cell cell) { return oracle.CostTo(cell); });
    }
  }
}

// Judges the derived data that floods of weighted maps use by direct computation.

bool AreAlike(const CellCosts::Entry& a, const CellCosts::Entry& b) {
  return a.straight == b.straight && a.diagonal == b.diagonal;
}

// Returns the cost of a step into the cell by a large agent: the highest of the cells that it covers.
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

}  // namespace
}  // namespace waystar::core
