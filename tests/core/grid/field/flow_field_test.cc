#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/search/checks.h"
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

// One sign for each cell of a field: an arrow, 'o' at a goal, '@' at a portal, ' ' where there is no way.
std::vector<std::string> Arrows(const FlowField& field) {
  constexpr char kSigns[] = " ^/>\\v/<\\o@";
  std::vector<std::string> rows;
  for (int y = 0; y < field.region.height; ++y) {
    std::string row;
    for (int x = 0; x < field.region.width; ++x) {
      row.push_back(kSigns[field.directions[static_cast<std::size_t>(y * field.region.width + x)]]);
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(FlowFieldTest, PointsToTheNearestGoal) {
  const GridMap map = DrawMap({".......",  //
                               ".#####.",  //
                               "..#...."},
                              FourConnected());
  FieldScratch scratch;
  const std::vector<Cell> goals = {{0, 2}, {6, 0}};
  const auto field = ComputeFlowField(map, {.goals = goals}, {}, scratch);
  ASSERT_TRUE(field.ok()) << field.status();
  EXPECT_THAT(Arrows(*field), ElementsAre("v<<>>>o",  //
                                          "v     ^",  //
                                          "o< >>>^"));
}

TEST(FlowFieldTest, PassesOverBlockedGoals) {
  const GridMap map = DrawMap({"..#"});
  FieldScratch scratch;
  const std::vector<Cell> goals = {{2, 0}, {0, 0}};
  const auto field = ComputeFlowField(map, {.goals = goals, .want_costs = true}, {}, scratch);
  ASSERT_TRUE(field.ok()) << field.status();
  EXPECT_THAT(Arrows(*field), ElementsAre("o< "));
  EXPECT_THAT(field->costs, ElementsAre(0.0F, 1.0F, FlowField::kUnreachable));
}

TEST(FlowFieldTest, EndsWhereTheCostDoes) {
  const GridMap map = DrawMap({"......"});
  FieldScratch scratch;
  const std::vector<Cell> goals = {{0, 0}};
  const auto field = ComputeFlowField(map, {.goals = goals, .max_cost = 3.0}, {}, scratch);
  ASSERT_TRUE(field.ok()) << field.status();
  EXPECT_THAT(Arrows(*field), ElementsAre("o<<<  "));
}

TEST(FlowFieldTest, RefusesBadQuestions) {
  FieldScratch scratch;
  const GridMap map = DrawMap({"..#", "..."});
  const auto ask = [&](const std::vector<Cell>& goals, std::optional<Rectangle> region = {}) {
    return ComputeFlowField(map, {.goals = goals, .region = region}, {}, scratch);
  };
  EXPECT_THAT(ask({}), IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kMissingField, "goals"));
  EXPECT_THAT(ask(std::vector<Cell>(1'000'000)),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "goals"));
  EXPECT_THAT(ask({{0, 0}, {0, -1}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "goals[1]"));
  EXPECT_THAT(ask({{2, 0}, {2, 0}}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kGoalBlocked, "goals"));
  EXPECT_THAT(ask({{0, 0}, {2, 1}}, Rectangle{0, 0, 2, 2}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "goals[1]"));
}

TEST(FlowFieldTest, FlowsThroughPortals) {
  FieldScratch scratch;
  const GridMap map = With(DrawMap({"...#...",  //
                                    "...#...",  //
                                    "...#..."},
                                   FourConnected()),
                           {Between("stairs", {2, 1}, {4, 1}, 2.0)});
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

  const auto right = ComputeFlowField(map, {.goals = goals, .region = Rectangle{3, 0, 4, 3}}, {}, scratch);
  ASSERT_THAT(right, IsOk());
  EXPECT_THAT(right->portals, IsEmpty()) << "it leads into the region from outside";
}

TEST(FlowFieldTest, GoesOnBehindPortalsThatCostNothing) {
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

class GeneratedFlowFieldTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
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

TEST_P(GeneratedFlowFieldTest, LeadsToTheNearestGoalAtItsCost) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  std::size_t passed = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const int portals = seed % 3 == 0 ? 0 : generator.Between(1, 12);
    const Maps world = GetParam().MakeWorld(generator, {kHome}, 8 + 6 * agent.footprint, portals);
    const GridMap& map = world.maps.at(kHome);
    std::vector<Cell> goals;
    for (int i = generator.Between(1, 4); i > 0; --i) {
      goals.push_back(generator.WalkableCellOf(map, agent.footprint));
    }
    if (!std::ranges::any_of(goals, [&](Cell goal) { return CanStand(map, goal, agent.footprint); })) {
      continue;
    }
    const auto field =
        ComputeFlowField(map, {.goals = goals, .agent = agent, .want_costs = true}, {}, scratch);
    ASSERT_THAT(field, IsOk());
    passed += field->portals.size();
    for (std::size_t i = 0; i < field->directions.size(); ++i) {
      const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
      const WorldOracle oracle(world.maps, WalkerOf(agent), kHome, cell);
      std::optional<double> nearest;
      for (const Cell goal : goals) {
        if (const std::optional<double> cost = oracle.CostTo(kHome, goal);
            cost && (!nearest || *cost < *nearest)) {
          nearest = cost;
        }
      }
      ASSERT_EQ(field->directions[i] != FlowField::kNoWay, nearest.has_value()) << cell.x << "," << cell.y;
      ASSERT_EQ(field->costs[i] != FlowField::kUnreachable, nearest.has_value());
      if (nearest) {
        ASSERT_NEAR(field->costs[i], *nearest, 1e-6 * (1.0 + *nearest)) << cell.x << "," << cell.y;
        ASSERT_EQ(FaultFrom(map, *field, cell), "");
      }
    }
  }
  EXPECT_GT(passed, 0U);
}

TEST_P(GeneratedFlowFieldTest, APortalOfHugeCostChangesNothing) {
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

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedFlowFieldTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

// Returns where a cell lies once the map is seen in an upright mirror, or turned by a quarter; hexagons are
// mirrored in the falling diagonal, and turned by half.
using Motion = Cell (*)(const GridMap& map, Cell cell);

bool IsHexagonal(const GridMap& map) { return map.settings().connectivity == Connectivity::kSix; }

Cell Mirrored(const GridMap& map, Cell cell) {
  return IsHexagonal(map) ? Cell{cell.y, cell.x} : Cell{map.width() - 1 - cell.x, cell.y};
}

Cell Turned(const GridMap& map, Cell cell) {
  return IsHexagonal(map) ? Cell{map.width() - 1 - cell.x, map.height() - 1 - cell.y}
                          : Cell{map.height() - 1 - cell.y, cell.x};
}

GridMap Moved(const GridMap& map, Motion motion) {
  const Cell first = motion(map, {0, 0});
  const Cell last = motion(map, {map.width() - 1, map.height() - 1});
  const GridMap blank =
      *GridMap::Create(std::abs(first.x - last.x) + 1, std::abs(first.y - last.y) + 1, map.settings());
  GridMapEditor editor(blank);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const Cell to = motion(map, {x, y});
      editor.SetTerrains(to.y, to.x, to.x + 1, map.TerrainAt({x, y}));
      editor.SetObstacle(to, map.HasObstacle({x, y}));
    }
  }
  return std::move(editor).Finish();
}

class MovedFlowFieldTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(MovedFlowFieldTest, CostsTheSameOnMirroredAndTurnedMaps) {
  FieldScratch scratch;
  const auto costs = [&](const GridMap& map, Cell goal) {
    auto field = ComputeFlowField(map, {.goals = {&goal, 1}, .agent = GetParam().agent, .want_costs = true},
                                  {}, scratch);
    EXPECT_THAT(field, IsOk());
    return field->costs;
  };
  for (std::uint64_t seed = 300; seed < 330; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 70);
    const Cell goal = generator.WalkableCellOf(map);
    if (!map.IsWalkable(goal)) {
      continue;
    }
    const std::vector<float> own = costs(map, goal);
    for (const Motion motion : {Mirrored, Turned}) {
      const GridMap moved = Moved(map, motion);
      const std::vector<float> there = costs(moved, motion(map, goal));
      for (std::size_t i = 0; i < own.size(); ++i) {
        const Cell cell = motion(map, {static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()});
        ASSERT_EQ(own[i], there[static_cast<std::size_t>(cell.y * moved.width() + cell.x)]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, MovedFlowFieldTest, ::testing::ValuesIn(SmallAgents()), NameOf);

}  // namespace
}  // namespace waystar::core
