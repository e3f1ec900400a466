#include <algorithm>
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
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::CanStand;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FourConnected;
using ::waystar::testing::Generator;
using ::waystar::testing::IsError;
using ::waystar::testing::IsLegalStep;
using ::waystar::testing::Oracle;
using ::waystar::testing::StepCost;

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

class GeneratedFlowFieldTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
  // What is wrong with following the field from a cell.
  std::string FaultFrom(const GridMap& map, const FlowField& field, Cell cell) const {
    const Agent& agent = GetParam().agent;
    const auto index = [&](Cell at) { return static_cast<std::size_t>(at.y * map.width() + at.x); };
    const double promised = static_cast<double>(field.costs[index(cell)]);
    double paid = 0.0;
    for (int steps = 0; field.directions[index(cell)] != FlowField::kAtGoal; ++steps) {
      if (field.directions[index(cell)] == FlowField::kNoWay || steps > map.width() * map.height()) {
        return absl::StrCat("leads nowhere at ", cell.x, ",", cell.y);
      }
      const Cell next = Step(cell, static_cast<Direction>(field.directions[index(cell)] - 1));
      if (!IsLegalStep(map, agent.corner_rule, cell, next, agent.footprint)) {
        return absl::StrCat("an illegal step at ", cell.x, ",", cell.y);
      }
      paid += StepCost(map, cell, next, agent.footprint);
      cell = next;
    }
    return std::abs(paid - promised) <= 1e-6 * (1.0 + paid)
               ? ""
               : absl::StrCat("costs ", paid, ", not ", promised);
  }
};

TEST_P(GeneratedFlowFieldTest, LeadsToTheNearestGoalAtItsCost) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 14);
    std::vector<Cell> goals;
    for (int i = generator.Between(1, 4); i > 0; --i) {
      goals.push_back(generator.WalkableCellOf(map, agent.footprint));
    }
    if (!std::any_of(goals.begin(), goals.end(),
                     [&](Cell goal) { return CanStand(map, goal, agent.footprint); })) {
      continue;
    }
    const auto field =
        ComputeFlowField(map, {.goals = goals, .agent = agent, .want_costs = true}, {}, scratch);
    ASSERT_TRUE(field.ok()) << field.status();
    for (std::size_t i = 0; i < field->directions.size(); ++i) {
      const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
      std::optional<double> nearest;
      if (CanStand(map, cell, agent.footprint)) {
        const Oracle oracle(map, agent.corner_rule, cell, agent.footprint);
        for (const Cell goal : goals) {
          if (const std::optional<double> cost = oracle.CostTo(goal);
              cost && (!nearest || *cost < *nearest)) {
            nearest = cost;
          }
        }
      }
      ASSERT_EQ(field->directions[i] != FlowField::kNoWay, nearest.has_value()) << cell.x << "," << cell.y;
      ASSERT_EQ(field->costs[i] != FlowField::kUnreachable, nearest.has_value());
      if (nearest) {
        ASSERT_NEAR(field->costs[i], *nearest, 1e-6 * (1.0 + *nearest));
        ASSERT_EQ(FaultFrom(map, *field, cell), "");
      }
    }
  }
}

// Maps that can be drawn, and agents that turn with them.
class TurnedFlowFieldTest : public ::testing::TestWithParam<MapAndAgent> {};

TEST_P(TurnedFlowFieldTest, CostsTheSameOnMirroredAndTurnedMaps) {
  const Agent& agent = GetParam().agent;
  FieldScratch scratch;
  const auto costs = [&](const GridMap& map, Cell goal) {
    auto field =
        ComputeFlowField(map, {.goals = {&goal, 1}, .agent = agent, .want_costs = true}, {}, scratch);
    EXPECT_TRUE(field.ok()) << field.status();
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
    const GridMap mirrored = Mirrored(map);
    const GridMap turned = Turned(map);
    const std::vector<float> in_mirror = costs(mirrored, Mirrored(map, goal));
    const std::vector<float> after_turn = costs(turned, Turned(map, goal));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Cell cell{static_cast<int>(i) % map.width(), static_cast<int>(i) / map.width()};
      const Cell seen = Mirrored(map, cell);
      const Cell moved = Turned(map, cell);
      ASSERT_EQ(own[i], in_mirror[static_cast<std::size_t>(seen.y * mirrored.width() + seen.x)]);
      ASSERT_EQ(own[i], after_turn[static_cast<std::size_t>(moved.y * turned.width() + moved.x)]);
    }
  }
}

std::vector<MapAndAgent> Turnable() {
  std::vector<MapAndAgent> turnable = EveryMapAndAgent();
  std::erase_if(turnable, [](const MapAndAgent& one) { return one.own_costs || one.agent.footprint > 1; });
  return turnable;
}

INSTANTIATE_TEST_SUITE_P(Agents, TurnedFlowFieldTest, ::testing::ValuesIn(Turnable()), NameOf);
INSTANTIATE_TEST_SUITE_P(Agents, GeneratedFlowFieldTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
