#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/search/checks.h"
#include "tests/core/grid/field/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::CanStand;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;
using ::waystar::testing::IsError;
using ::waystar::testing::Oracle;

// What the packed answer says of each cell of the map: its cost, if it is reached.
std::vector<std::optional<double>> Unpack(const GridMap& map, const ReachableCells& reachable) {
  std::vector<std::optional<double>> costs(static_cast<std::size_t>(map.bounds().area()));
  const auto row_bytes = static_cast<std::size_t>((reachable.bounds.width + 7) / 8);
  std::size_t next = 0;
  for (int y = 0; y < reachable.bounds.height; ++y) {
    for (int x = 0; x < reachable.bounds.width; ++x) {
      const std::uint8_t byte =
          reachable.bits[static_cast<std::size_t>(y) * row_bytes + static_cast<std::size_t>(x / 8)];
      if ((byte >> (x % 8) & 1U) != 0) {
        const auto at =
            static_cast<std::size_t>((reachable.bounds.y + y) * map.width() + reachable.bounds.x + x);
        costs[at] = static_cast<double>(reachable.costs[next++]);
      }
    }
  }
  EXPECT_EQ(next, reachable.costs.size());
  EXPECT_EQ(next, static_cast<std::size_t>(reachable.count));
  return costs;
}

// The map's rows with '*' on the cells that are reached.
std::vector<std::string> Draw(const std::vector<std::string>& rows, const ReachableCells& reachable) {
  std::vector<std::string> drawn = rows;
  const auto row_bytes = static_cast<std::size_t>((reachable.bounds.width + 7) / 8);
  for (int y = 0; y < reachable.bounds.height; ++y) {
    for (int x = 0; x < reachable.bounds.width; ++x) {
      const std::uint8_t byte =
          reachable.bits[static_cast<std::size_t>(y) * row_bytes + static_cast<std::size_t>(x / 8)];
      if ((byte >> (x % 8) & 1U) != 0) {
        drawn[static_cast<std::size_t>(reachable.bounds.y + y)]
             [static_cast<std::size_t>(reachable.bounds.x + x)] = '*';
      }
    }
  }
  return drawn;
}

TEST(ReachableTest, DrawsTheRangeOfAUnit) {
  const std::vector<std::string> rows = {
      ".........",  //
      "....#....",  //
      "....#....",  //
      ".........",  //
  };
  FieldScratch scratch;
  const auto reachable = FindReachable(DrawMap(rows), {.start = {3, 2}, .max_cost = 2.5}, {}, scratch);
  ASSERT_TRUE(reachable.ok()) << reachable.status();
  EXPECT_THAT(Draw(rows, *reachable), ElementsAre("..**.....",  //
                                                  ".***#....",  //
                                                  ".***#....",  //
                                                  ".****...."));
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

class GeneratedReachableTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(GeneratedReachableTest, AgreesWithTheOracle) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, seed % 5 == 0 ? 140 : 32);
    const Cell start = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, start, agent.footprint)) {
      continue;
    }
    std::optional<double> max_cost;
    if (generator.Chance(0.7)) {
      max_cost = 0.37 * generator.Between(0, 60);
    }
    const auto reachable = FindReachable(
        map, {.start = start, .agent = agent, .max_cost = max_cost, .want_costs = true}, {}, scratch);
    ASSERT_TRUE(reachable.ok()) << reachable.status();
    const std::vector<std::optional<double>> costs = Unpack(map, *reachable);
    const Oracle oracle(map, agent.corner_rule, start, agent.footprint);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
      const std::optional<double> cost = oracle.CostTo(cell);
      const bool is_near_limit = cost && max_cost && std::abs(*cost - *max_cost) < 1e-5;
      if (is_near_limit) {
        continue;
      }
      ASSERT_EQ(costs[i].has_value(), cost && *cost <= max_cost.value_or(1e18)) << cell.x << "," << cell.y;
      if (costs[i]) {
        ASSERT_NEAR(*costs[i], *cost, 1e-6 * (1.0 + *cost));
      }
    }
  }
}

TEST_P(GeneratedReachableTest, KnowsTheWayBackToo) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 12);
    const Cell goal = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, goal, agent.footprint)) {
      continue;
    }
    const auto reachable = FindReachable(
        map, {.start = goal, .agent = agent, .sense = FloodSense::kToSeeds, .want_costs = true}, {}, scratch);
    ASSERT_TRUE(reachable.ok()) << reachable.status();
    const std::vector<std::optional<double>> costs = Unpack(map, *reachable);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
      if (!CanStand(map, cell, agent.footprint)) {
        ASSERT_FALSE(costs[i]);
        continue;
      }
      const std::optional<double> cost = Oracle(map, agent.corner_rule, cell, agent.footprint).CostTo(goal);
      ASSERT_EQ(costs[i].has_value(), cost.has_value()) << cell.x << "," << cell.y;
      if (cost) {
        ASSERT_NEAR(*costs[i], *cost, 1e-6 * (1.0 + *cost));
      }
    }
  }
}

// As if everything outside were blocked. Agents of one cell: what is blocked is what they stand on.
TEST_P(GeneratedReachableTest, StaysInTheRegion) {
  Agent agent = GetParam().agent;
  agent.footprint = 1;
  FieldScratch scratch;
  for (std::uint64_t seed = 200; seed < 240; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 40);
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
    const auto walled = ApplyEdits(map, {BlockCells{outside}, UnblockCells{{.cells = {start}}}});
    const auto reachable = FindReachable(
        map, {.start = start, .agent = agent, .region = region, .want_costs = true}, {}, scratch);
    ASSERT_TRUE(reachable.ok()) << reachable.status();
    const std::vector<std::optional<double>> costs = Unpack(map, *reachable);
    const Oracle oracle(walled.ok() ? walled->map : map, agent.corner_rule, start);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
      const std::optional<double> cost = oracle.CostTo(cell);
      ASSERT_EQ(costs[i].has_value(), cost.has_value()) << cell.x << "," << cell.y;
      if (cost) {
        ASSERT_NEAR(*costs[i], *cost, 1e-6 * (1.0 + *cost));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedReachableTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
