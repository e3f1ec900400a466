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
using ::waystar::testing::Between;
using ::waystar::testing::CanStand;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FourConnected;
using ::waystar::testing::Generator;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::Maps;
using ::waystar::testing::Oracle;
using ::waystar::testing::With;
using ::waystar::testing::WorldOracle;

// Calls `visit` with each cell that is reached, row by row.
template <typename Visit>
void ForEachReached(const ReachableCells& reachable, Visit visit) {
  const auto row_bytes = static_cast<std::size_t>((reachable.bounds.width + 7) / 8);
  for (int y = 0; y < reachable.bounds.height; ++y) {
    for (int x = 0; x < reachable.bounds.width; ++x) {
      const std::uint8_t byte =
          reachable.bits[static_cast<std::size_t>(y) * row_bytes + static_cast<std::size_t>(x / 8)];
      if ((byte >> (x % 8) & 1U) != 0) {
        visit(Cell{reachable.bounds.x + x, reachable.bounds.y + y});
      }
    }
  }
}

// Expects the cells that `cost_of` has a cost for, up to `max_cost`, at that cost.
template <typename CostOf>
void ExpectCosts(const GridMap& map, const absl::StatusOr<ReachableCells>& reachable, CostOf cost_of,
                 double max_cost = std::numeric_limits<double>::infinity()) {
  ASSERT_THAT(reachable, IsOk());
  std::vector<std::optional<double>> costs(static_cast<std::size_t>(map.bounds().area()));
  std::size_t next = 0;
  ForEachReached(*reachable, [&](Cell cell) {
    costs[static_cast<std::size_t>(cell.y * map.width() + cell.x)] = reachable->costs.at(next++);
  });
  EXPECT_EQ(next, reachable->costs.size());
  EXPECT_EQ(next, static_cast<std::size_t>(reachable->count));
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

TEST(ReachableTest, DrawsTheRangeOfAUnit) {
  const std::vector<std::string> rows = {
      ".........",  //
      "....#....",  //
      "....#....",  //
      ".........",  //
  };
  FieldScratch scratch;
  const auto reachable = FindReachable(DrawMap(rows), {.start = {3, 2}, .max_cost = 2.5}, {}, scratch);
  ASSERT_THAT(reachable, IsOk());
  std::vector<std::string> drawn = rows;
  ForEachReached(*reachable, [&](Cell cell) {
    drawn[static_cast<std::size_t>(cell.y)][static_cast<std::size_t>(cell.x)] = '*';
  });
  EXPECT_THAT(drawn, ElementsAre("..**.....",  //
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

// Two rooms, and a portal from the left to the right.
GridMap Rooms(double cost) {
  return With(DrawMap({"...#...",  //
                       "...#...",  //
                       "...#..."},
                      FourConnected()),
              {Between("stairs", {2, 1}, {4, 1}, cost)});
}

TEST(ReachableTest, ReachesWhatAPortalLeadsTo) {
  FieldScratch scratch;
  const GridMap map = Rooms(2.0);
  const auto reachable =
      FindReachable(map, {.start = {2, 0}, .max_cost = 4.0, .want_costs = true}, {}, scratch);
  ASSERT_THAT(reachable, IsOk());
  EXPECT_EQ(reachable->bounds, (Rectangle{0, 0, 6, 3}));
  EXPECT_THAT(reachable->costs, ElementsAre(2.0F, 1.0F, 0.0F, 4.0F,        //
                                            3.0F, 2.0F, 1.0F, 3.0F, 4.0F,  //
                                            4.0F, 3.0F, 2.0F, 4.0F));
}

TEST(ReachableTest, KnowsOneWayFromTheOther) {
  FieldScratch scratch;
  const GridMap map = Rooms(2.0);
  const auto from_there = FindReachable(map, {.start = {4, 1}}, {}, scratch);
  ASSERT_THAT(from_there, IsOk());
  EXPECT_EQ(from_there->count, 9);
  const auto to_there = FindReachable(map, {.start = {4, 1}, .sense = FloodSense::kToSeeds}, {}, scratch);
  ASSERT_THAT(to_there, IsOk());
  EXPECT_EQ(to_there->count, 18);
}

TEST(ReachableTest, LeavesPortalsThatLeadOutOfTheRegion) {
  FieldScratch scratch;
  const GridMap map = Rooms(2.0);
  const auto reachable = FindReachable(map, {.start = {2, 0}, .region = Rectangle{0, 0, 4, 3}}, {}, scratch);
  ASSERT_THAT(reachable, IsOk());
  EXPECT_EQ(reachable->count, 9);
}

TEST(ReachableTest, RequiresTags) {
  FieldScratch scratch;
  Portal wide = Between("wide", {2, 1}, {4, 1});
  wide.tags = {"dry", "wide"};
  const GridMap map = With(DrawMap({"...#...", "...#..."}, FourConnected()), {wide});
  const std::vector<std::string> some = {"wide"};
  const std::vector<std::string> other = {"safe", "wide"};
  EXPECT_EQ(FindReachable(map, {.agent = {.required_tags = some}}, {}, scratch)->count, 12);
  EXPECT_EQ(FindReachable(map, {.agent = {.required_tags = other}}, {}, scratch)->count, 6);
}

TEST(ReachableTest, LargeAgentsNeedRoomAtBothEnds) {
  FieldScratch scratch;
  const GridMap map = With(DrawMap({"...#...", "...#...", "...#..#"}, FourConnected()),
                           {Between("low", {1, 1}, {5, 1}), Between("high", {0, 0}, {5, 0}, 50.0)});
  const auto reachable = FindReachable(map, {.agent = {.footprint = 2}, .want_costs = true}, {}, scratch);
  ASSERT_THAT(reachable, IsOk());
  EXPECT_THAT(reachable->costs, ElementsAre(0.0F, 1.0F, 51.0F, 50.0F, 1.0F, 2.0F, 52.0F));
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
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const int portals = seed % 2 == 0 ? 0 : generator.Between(1, 12);
    const Maps world = GetParam().MakeWorld(generator, {"home"}, seed % 5 == 0 ? 140 : 32, portals);
    const GridMap& map = world.maps.at("home");
    const Cell start = generator.WalkableCellOf(map, agent().footprint);
    if (!CanStand(map, start, agent().footprint)) {
      continue;
    }
    const double max_cost =
        generator.Chance(0.7) ? 0.37 * generator.Between(0, 60) : std::numeric_limits<double>::infinity();
    const WorldOracle oracle(world.maps, WalkerOf(agent()), "home", start);
    ExpectCosts(
        map,
        FindReachable(map, {.start = start, .agent = agent(), .max_cost = max_cost, .want_costs = true}, {},
                      scratch_),
        [&](Cell cell) { return oracle.CostTo("home", cell); }, max_cost);
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(GeneratedReachableTest, KnowsTheWayBackToo) {
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 12);
    const Cell goal = generator.WalkableCellOf(map, agent().footprint);
    if (!CanStand(map, goal, agent().footprint)) {
      continue;
    }
    ExpectCosts(map,
                FindReachable(
                    map, {.start = goal, .agent = agent(), .sense = FloodSense::kToSeeds, .want_costs = true},
                    {}, scratch_),
                [&](Cell cell) {
                  return CanStand(map, cell, agent().footprint)
                             ? Oracle(map, agent().corner_rule, cell, agent().footprint).CostTo(goal)
                             : std::nullopt;
                });
    ASSERT_FALSE(HasFailure());
  }
}

// As if everything outside were blocked. Agents of one cell: what is blocked is what they stand on.
TEST_P(GeneratedReachableTest, StaysInTheRegion) {
  Agent small = agent();
  small.footprint = 1;
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
    const Oracle oracle(walled.ok() ? walled->map : map, small.corner_rule, start);
    ExpectCosts(map,
                FindReachable(map, {.start = start, .agent = small, .region = region, .want_costs = true}, {},
                              scratch_),
                [&](Cell cell) { return oracle.CostTo(cell); });
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedReachableTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
