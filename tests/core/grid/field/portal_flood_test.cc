// Cells within reach and flow fields on maps with portals.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/search/checks.h"
#include "tests/core/grid/field/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::waystar::testing::Between;
using ::waystar::testing::CanStand;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FourConnected;
using ::waystar::testing::Generator;
using ::waystar::testing::IsError;
using ::waystar::testing::IsLegalStep;
using ::waystar::testing::IsOk;
using ::waystar::testing::Maps;
using ::waystar::testing::StepCost;
using ::waystar::testing::With;
using ::waystar::testing::WorldOracle;

constexpr char kHome[] = "home";

// Two rooms, and a portal from the left to the right.
GridMap Rooms(double cost) {
  return With(DrawMap({"...#...",  //
                       "...#...",  //
                       "...#..."},
                      FourConnected()),
              {Between("stairs", {2, 1}, {4, 1}, cost)});
}

TEST(PortalFloodTest, ReachesWhatAPortalLeadsTo) {
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

TEST(PortalFloodTest, KnowsOneWayFromTheOther) {
  FieldScratch scratch;
  const GridMap map = Rooms(2.0);
  const auto from_there = FindReachable(map, {.start = {4, 1}}, {}, scratch);
  ASSERT_THAT(from_there, IsOk());
  EXPECT_EQ(from_there->count, 9);
  const auto to_there = FindReachable(map, {.start = {4, 1}, .sense = FloodSense::kToSeeds}, {}, scratch);
  ASSERT_THAT(to_there, IsOk());
  EXPECT_EQ(to_there->count, 18);
}

TEST(PortalFloodTest, LeavesPortalsThatLeadOutOfTheRegion) {
  FieldScratch scratch;
  const GridMap map = Rooms(2.0);
  const auto reachable = FindReachable(map, {.start = {2, 0}, .region = Rectangle{0, 0, 4, 3}}, {}, scratch);
  ASSERT_THAT(reachable, IsOk());
  EXPECT_EQ(reachable->count, 9);
  const std::vector<Cell> goals = {{6, 1}};
  const auto field = ComputeFlowField(map, {.goals = goals, .region = Rectangle{3, 0, 4, 3}}, {}, scratch);
  ASSERT_THAT(field, IsOk());
  EXPECT_THAT(field->portals, IsEmpty());
}

TEST(PortalFloodTest, RequiresTags) {
  FieldScratch scratch;
  Portal wide = Between("wide", {2, 1}, {4, 1});
  wide.tags = {"dry", "wide"};
  const GridMap map = With(DrawMap({"...#...", "...#..."}, FourConnected()), {wide});
  const std::vector<std::string> some = {"wide"};
  const std::vector<std::string> other = {"safe", "wide"};
  EXPECT_EQ(FindReachable(map, {.agent = {.required_tags = some}}, {}, scratch)->count, 12);
  EXPECT_EQ(FindReachable(map, {.agent = {.required_tags = other}}, {}, scratch)->count, 6);
}

TEST(PortalFloodTest, LargeAgentsNeedRoomAtBothEnds) {
  FieldScratch scratch;
  const GridMap map = With(DrawMap({"...#...", "...#...", "...#..#"}, FourConnected()),
                           {Between("low", {1, 1}, {5, 1}), Between("high", {0, 0}, {5, 0}, 50.0)});
  const auto reachable = FindReachable(map, {.agent = {.footprint = 2}, .want_costs = true}, {}, scratch);
  ASSERT_THAT(reachable, IsOk());
  EXPECT_THAT(reachable->costs, ElementsAre(0.0F, 1.0F, 51.0F, 50.0F, 1.0F, 2.0F, 52.0F));
}

TEST(PortalFloodTest, LooksNoFurtherThanPortalsCanLead) {
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

TEST(PortalFloodTest, FlowsThroughPortals) {
  FieldScratch scratch;
  const GridMap map = Rooms(2.0);
  const std::vector<Cell> goals = {{5, 2}};
  const auto field = ComputeFlowField(map, {.goals = goals, .want_costs = true}, {}, scratch);
  ASSERT_THAT(field, IsOk());
  EXPECT_THAT(Arrows(*field), ElementsAre("vvv vvv",  //
                                          ">>@ vvv",  //
                                          "^^^ >o<"));
  ASSERT_THAT(field->portals, SizeIs(1));
  EXPECT_EQ(field->portals[0].cell, (Cell{2, 1}));
  EXPECT_EQ(field->portals[0].portal->id, "stairs");
  EXPECT_EQ(field->portals[0].arrival, (Cell{4, 1}));
  EXPECT_EQ(field->costs[7], 6.0F);
}

TEST(PortalFloodTest, GoesOnBehindPortalsThatCostNothing) {
  FieldScratch scratch;
  Portal both = Between("both", {0, 0}, {4, 0}, 0.0);
  both.both_ways = true;
  const GridMap map = With(DrawMap({".#.#.#."}, FourConnected()), {both, Between("on", {4, 0}, {6, 0}, 0.0)});
  const std::vector<Cell> goals = {{6, 0}};
  const auto field = ComputeFlowField(map, {.goals = goals, .want_costs = true}, {}, scratch);
  ASSERT_THAT(field, IsOk());
  EXPECT_THAT(Arrows(*field), ElementsAre("@   @ o"));
  EXPECT_EQ(field->costs[0], 0.0F);
}

class GeneratedPortalFloodTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
  // A map with portals; none if there is no room for any.
  static Maps MakeWorld(Generator& generator, int max_side) {
    Maps world;
    world.maps.emplace(kHome, GetParam().Make(generator, max_side));
    world.AddPortals(generator, generator.Between(1, 12), GetParam().agent.footprint);
    return world;
  }

  static WorldOracle OracleFrom(const Maps& world, Cell start) {
    return {world.maps, WalkerOf(GetParam().agent), kHome, start};
  }

  // What is wrong with following the field from a cell.
  static std::string FaultFrom(const GridMap& map, const FlowField& field, Cell cell) {
    const Agent& agent = GetParam().agent;
    const auto index = [&](Cell at) { return static_cast<std::size_t>(at.y * map.width() + at.x); };
    const double promised = static_cast<double>(field.costs[index(cell)]);
    double paid = 0.0;
    for (int steps = 0; field.directions[index(cell)] != FlowField::kAtGoal; ++steps) {
      const std::uint8_t direction = field.directions[index(cell)];
      if (direction == FlowField::kNoWay || steps > map.width() * map.height()) {
        return absl::StrCat("leads nowhere at ", cell.x, ",", cell.y);
      }
      if (direction != FlowField::kThroughPortal) {
        const Cell next = Step(cell, static_cast<Direction>(direction - 1));
        if (!IsLegalStep(map, agent.corner_rule, cell, next, agent.footprint)) {
          return absl::StrCat("an illegal step at ", cell.x, ",", cell.y);
        }
        paid += StepCost(map, cell, next, agent.footprint);
        cell = next;
        continue;
      }
      const auto step = std::find_if(field.portals.begin(), field.portals.end(),
                                     [&](const PortalStep& portal) { return portal.cell == cell; });
      if (step == field.portals.end()) {
        return absl::StrCat("no portal at ", cell.x, ",", cell.y);
      }
      const Portal& portal = *step->portal;
      const bool leads_there = portal.from == cell && portal.to == step->arrival;
      const bool leads_back = portal.both_ways && portal.to == cell && portal.from == step->arrival;
      if (portal.closed || !portal.to_map.empty() || (!leads_there && !leads_back)) {
        return absl::StrCat("the wrong portal at ", cell.x, ",", cell.y);
      }
      paid += CostToDouble(portal.cost);
      cell = step->arrival;
    }
    return std::abs(paid - promised) <= 1e-6 * (1.0 + paid)
               ? ""
               : absl::StrCat("costs ", paid, ", not ", promised);
  }
};

TEST_P(GeneratedPortalFloodTest, FlowsToTheNearestGoalAtItsCost) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  std::size_t passed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const Maps world = MakeWorld(generator, 8 + 6 * agent.footprint);
    const GridMap& map = world.maps.at(kHome);
    std::vector<Cell> goals;
    bool is_any_free = false;
    for (int i = generator.Between(1, 2); i > 0; --i) {
      goals.push_back(generator.WalkableCellOf(map, agent.footprint));
      is_any_free |= CanStand(map, goals.back(), agent.footprint);
    }
    if (!is_any_free) {
      continue;
    }
    const auto field =
        ComputeFlowField(map, {.goals = goals, .agent = agent, .want_costs = true}, {}, scratch);
    ASSERT_THAT(field, IsOk());
    passed += field->portals.size();
    for (std::size_t i = 0; i < field->directions.size(); ++i) {
      const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
      const WorldOracle oracle = OracleFrom(world, cell);
      std::optional<double> nearest;
      for (const Cell goal : goals) {
        if (const std::optional<double> cost = oracle.CostTo(kHome, goal);
            cost && (!nearest || *cost < *nearest)) {
          nearest = cost;
        }
      }
      ASSERT_EQ(field->directions[i] != FlowField::kNoWay, nearest.has_value()) << cell.x << "," << cell.y;
      if (nearest) {
        ASSERT_NEAR(field->costs[i], *nearest, 1e-6 * (1.0 + *nearest)) << cell.x << "," << cell.y;
        ASSERT_EQ(FaultFrom(map, *field, cell), "");
      }
    }
  }
  EXPECT_GT(passed, 0U);
}

TEST_P(GeneratedPortalFloodTest, ReachesWhatTheOracleDoes) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  for (std::uint64_t seed = 50; seed < 80; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const Maps world = MakeWorld(generator, 40);
    const GridMap& map = world.maps.at(kHome);
    const Cell start = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, start, agent.footprint)) {
      continue;
    }
    std::optional<double> max_cost;
    if (generator.Chance(0.7)) {
      // Between the costs of paths over equal cells.
      max_cost = 0.37 * generator.Between(0, 60) + 0.0113;
    }
    const auto reachable =
        FindReachable(map, {.start = start, .agent = agent, .max_cost = max_cost}, {}, scratch);
    ASSERT_THAT(reachable, IsOk());
    const WorldOracle oracle = OracleFrom(world, start);
    std::int64_t count = 0;
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        const std::optional<double> cost = oracle.CostTo(kHome, {x, y});
        count += cost && *cost <= max_cost.value_or(1e18) ? 1 : 0;
      }
    }
    ASSERT_EQ(reachable->count, count);
  }
}

TEST_P(GeneratedPortalFloodTest, APortalOfHugeCostChangesNothing) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap plain = GetParam().Make(generator, 60);
    const Cell from = generator.WalkableCellOf(plain, agent.footprint);
    const Cell to = generator.WalkableCellOf(plain, agent.footprint);
    if (from == to || !CanStand(plain, from, agent.footprint)) {
      continue;
    }
    const GridMap map = With(plain, {Between("dear", from, to, kMaxPortalCost)});
    const FlowFieldQuery query{
        .goals = {&from, 1}, .agent = agent, .max_cost = kMaxPortalCost - 1, .want_costs = true};
    const auto without = ComputeFlowField(plain, query, {}, scratch);
    const auto with = ComputeFlowField(map, query, {}, scratch);
    ASSERT_THAT(without, IsOk());
    ASSERT_THAT(with, IsOk());
    EXPECT_EQ(with->directions, without->directions);
    EXPECT_EQ(with->costs, without->costs);
    EXPECT_THAT(with->portals, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedPortalFloodTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
