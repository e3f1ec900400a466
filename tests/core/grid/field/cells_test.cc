// Rays, samples and reachability.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/field/sample_cells.h"
#include "server/core/grid/path/line_of_sight.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

TEST(CastRayTest, FindsTheFirstBlockedCell) {
  const GridMap map = DrawMap({".....",  //
                               "...#.",  //
                               "....."});
  const auto hit = CastRay(map, {}, {0.0, 1.0}, {4.0, 1.0});
  ASSERT_TRUE(hit.ok()) << hit.status();
  EXPECT_TRUE(hit->is_blocked);
  EXPECT_EQ(hit->cell, (Cell{3, 1}));
  EXPECT_EQ(hit->last_free, (Cell{2, 1}));
  EXPECT_EQ(hit->position, (CellPoint{2.5, 1.0}));
  EXPECT_EQ(hit->fraction, 0.625);

  const auto free = CastRay(map, {}, {0.0, 0.25}, {4.25, 0.25});
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_FALSE(free->is_blocked);
  EXPECT_EQ(free->cell, (Cell{4, 0}));
  EXPECT_EQ(free->last_free, (Cell{4, 0}));
  EXPECT_EQ(free->position, (CellPoint{4.25, 0.25}));
}

TEST(CastRayTest, ObeysTheCornerRuleExactly) {
  const GridMap map = DrawMap({".#",  //
                               ".."});
  const GridMap narrow = DrawMap({".#",  //
                                  "#."});
  const auto hits = [](const GridMap& on, CornerRule rule, CellPoint from, CellPoint to) {
    return CastRay(on, {.corner_rule = rule}, from, to)->is_blocked;
  };
  const CellPoint a{0.0, 0.0};
  const CellPoint b{1.0, 1.0};
  EXPECT_TRUE(hits(map, CornerRule::kNoCornerCutting, a, b));
  EXPECT_TRUE(hits(map, CornerRule::kNoCornerCutting, b, a));
  EXPECT_FALSE(hits(map, CornerRule::kOneSideFree, a, b));
  EXPECT_TRUE(hits(narrow, CornerRule::kOneSideFree, a, b));
  EXPECT_FALSE(hits(narrow, CornerRule::kAlways, a, b));
  // A hair's breadth beside the corner it is no corner any more.
  EXPECT_FALSE(hits(map, CornerRule::kNoCornerCutting, {0.0, 0.001}, {1.0, 1.001}));
  EXPECT_TRUE(hits(map, CornerRule::kAlways, {0.001, 0.0}, {1.001, 1.0}));
  EXPECT_TRUE(CastRay(DrawMap({".#", ".."}, FourConnected()), {.corner_rule = CornerRule::kAlways}, a, b)
                  ->is_blocked);
}

TEST(CastRayTest, CountsBordersToTheRightAndBelow) {
  const GridMap map = DrawMap({"..#",  //
                               "..."});
  EXPECT_EQ(CastRay(map, {}, {0.5, 0.0}, {0.5, 0.0})->cell, (Cell{1, 0}));
  EXPECT_TRUE(CastRay(map, {}, {1.0, 0.0}, {1.5, 0.0})->is_blocked);
  EXPECT_FALSE(CastRay(map, {}, {1.0, 0.0}, {1.499, 0.0})->is_blocked);
  // Along the border between the first two columns, which is in the second.
  EXPECT_EQ(CastRay(map, {}, {0.5, 0.0}, {0.5, 1.0})->cell, (Cell{1, 1}));
  const auto within = CastRay(map, {}, {2.0, 0.0}, {0.0, 0.0});
  EXPECT_TRUE(within->is_blocked);
  EXPECT_EQ(within->last_free, std::nullopt);
  EXPECT_EQ(within->fraction, 0.0);
}

TEST(CastRayTest, RefusesBadPositions) {
  const GridMap map = DrawMap({".."});
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const auto cast = [&](CellPoint from, CellPoint to) { return CastRay(map, {}, from, to); };
  EXPECT_THAT(cast({nan, 0}, {}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "from.x"));
  EXPECT_THAT(cast({}, {0, -infinity}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "to.y"));
  EXPECT_THAT(cast({-0.6, 0}, {}), IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "from"));
  EXPECT_THAT(cast({}, {1.5, 0}), IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "to"));
  EXPECT_THAT(cast({}, {1e300, 0}), IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "to"));
}

class GeneratedCellsTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(GeneratedCellsTest, RaysBetweenCentresAreLinesOfSight) {
  const Agent& agent = GetParam().agent;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 40);
    const auto walk = map.walk(agent.footprint);
    for (int i = 0; i < 40; ++i) {
      const Cell from = generator.CellOf(map);
      const Cell to = generator.CellOf(map);
      const auto hit = CastRay(map, agent, {static_cast<double>(from.x), static_cast<double>(from.y)},
                               {static_cast<double>(to.x), static_cast<double>(to.y)});
      ASSERT_TRUE(hit.ok()) << hit.status();
      ASSERT_EQ(!hit->is_blocked,
                HasLineOfSight(*walk, LineRule(map.settings().connectivity, agent.corner_rule), from, to))
          << "seed " << seed << ", " << from.x << "," << from.y << " to " << to.x << "," << to.y;
      if (hit->is_blocked) {
        ASSERT_FALSE(CanStand(map, hit->cell, agent.footprint));
        ASSERT_EQ(hit->last_free.has_value(), CanStand(map, from, agent.footprint));
      }
    }
  }
}

// On worlds with portals and without; of the samples all that there are, each once, when as many are asked
// for.
TEST_P(GeneratedCellsTest, PairsAreReachableAndSamplesAreThoseThatAre) {
  const std::vector<std::string> wide = {"wide"};
  int through_portals = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Agent agent = GetParam().agent;
    if (generator.Chance(0.5)) {
      agent.required_tags = wide;
    }
    const bool has_portals = seed % 4 != 0;
    Maps world = GetParam().MakeWorld(
        generator,
        has_portals ? std::vector<std::string>{"home", "attic", "cellar"} : std::vector<std::string>{"home"},
        has_portals ? 24 : 140, has_portals ? generator.Between(1, 25) : 0);
    const GridMap& home = world.maps.at("home");
    const Cell start = generator.WalkableCellOf(home, agent.footprint);
    const Cell other = generator.CellOf(home);
    std::vector<CellPair> pairs;
    for (int i = 0; i < 60; ++i) {
      pairs.push_back({i % 4 == 0 ? other : start, generator.CellOf(home)});
    }
    const auto reachable = CheckReachability(home, world, agent, pairs);
    ASSERT_THAT(reachable, IsOk());
    const WorldOracle oracle(world.maps, WalkerOf(agent), "home", start);
    const WorldOracle from_other(world.maps, WalkerOf(agent), "home", other);
    const auto& components = home.walk(agent.footprint)->components(AdjacencyOf(home, agent.corner_rule));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ((*reachable)[i], (i % 4 == 0 ? from_other : oracle).CostTo("home", pairs[i].goal).has_value())
          << i;
      through_portals += (*reachable)[i] && !components.AreConnected(pairs[i].start, pairs[i].goal) ? 1 : 0;
    }

    SampleQuery query{.count = 100'000, .seed = seed, .agent = agent, .distinct = true};
    const Rectangle region = Extend(Extend({}, generator.CellOf(home)), generator.CellOf(home));
    if (generator.Chance(0.5)) {
      query.region = region;
    }
    if (CanStand(home, start, agent.footprint) && (has_portals || generator.Chance(0.5))) {
      query.reachable_from = start;
    }
    const auto sampled = SampleCells(home, world, query, {});
    ASSERT_THAT(sampled, IsOk());
    std::set<std::pair<int, int>> drawn;
    for (const Cell cell : sampled->cells) {
      ASSERT_TRUE(drawn.insert({cell.x, cell.y}).second);
    }
    ASSERT_EQ(static_cast<std::size_t>(sampled->candidates), drawn.size());
    for (int y = 0; y < home.height(); ++y) {
      for (int x = 0; x < home.width(); ++x) {
        const bool is_in_region = !query.region || query.region->Contains({x, y});
        const bool is_wanted =
            is_in_region && (query.reachable_from ? oracle.CostTo("home", {x, y}).has_value()
                                                  : CanStand(home, {x, y}, agent.footprint));
        ASSERT_EQ(drawn.contains({x, y}), is_wanted) << x << "," << y;
      }
    }
  }
  EXPECT_GT(through_portals, 0);
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedCellsTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

TEST(SampleCellsTest, GivesTheSameCellsForASeed) {
  NoWorld no_world;
  const GridMap map = DrawMap({"....", ".##.", "...."});
  const auto sampled = SampleCells(map, no_world, {.count = 4, .seed = 7}, {});
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  // On every machine: part of the contract.
  EXPECT_THAT(sampled->cells, ElementsAre(Cell{1, 2}, Cell{0, 1}, Cell{0, 2}, Cell{3, 0}));
  EXPECT_EQ(sampled->candidates, 10);
}

TEST(SampleCellsTest, DrawsEachCellAboutAsOften) {
  NoWorld no_world;
  const GridMap map = DrawMap({"..#.", "#..."});
  const auto sampled = SampleCells(map, no_world, {.count = 60'000, .seed = 1}, {});
  ASSERT_TRUE(sampled.ok()) << sampled.status();
  std::map<std::pair<int, int>, int> times;
  for (const Cell cell : sampled->cells) {
    ++times[{cell.x, cell.y}];
  }
  ASSERT_EQ(times.size(), 6U);
  for (const auto& [cell, count] : times) {
    EXPECT_NEAR(count, 10'000, 400) << cell.first << "," << cell.second;
  }
}

TEST(SampleCellsTest, RefusesBadQuestions) {
  NoWorld no_world;
  const GridMap map = DrawMap({".#"});
  const auto sample = [&](const SampleQuery& query) { return SampleCells(map, no_world, query, {}); };
  EXPECT_THAT(sample({.count = 0}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "count"));
  EXPECT_THAT(sample({.count = -3}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "count"));
  EXPECT_THAT(sample({.count = 1'000'000}),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "count"));
  EXPECT_THAT(sample({.reachable_from = Cell{2, 0}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "reachable_from"));
  EXPECT_THAT(sample({.reachable_from = Cell{1, 0}}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "reachable_from"));
  EXPECT_THAT(sample({.region = Rectangle{0, 0, 3, 1}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "region"));
}

TEST(CheckReachabilityTest, RefusesBadPairs) {
  NoWorld no_world;
  const GridMap map = DrawMap({".."});
  EXPECT_THAT(CheckReachability(map, no_world, {}, {{{0, 0}, {1, 0}}, {{0, 0}, {2, 0}}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "pairs[1].goal"));
  EXPECT_THAT(CheckReachability(map, no_world, {}, std::vector<CellPair>(70'000)),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "pairs"));
}

}  // namespace
}  // namespace waystar::core
