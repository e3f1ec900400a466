#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
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
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kHome[] = "home";

TEST(FlowFieldTest, EndsWhereTheCostDoes) {
  FieldScratch scratch;
  const std::vector<Cell> goals = {{0, 0}};
  const auto field = ComputeFlowField(DrawMap({"......"}),
                                      {.goals = goals, .max_cost = 3.0, .want_costs = true}, {}, scratch);
  ASSERT_THAT(field, IsOk());
  EXPECT_THAT(field->costs,
              ElementsAre(0.0F, 1.0F, 2.0F, 3.0F, FlowField::kUnreachable, FlowField::kUnreachable));
}

TEST(FlowFieldTest, ARegionHasNoPortalsThatLeadIntoIt) {
  FieldScratch scratch;
  const GridMap map = With(DrawMap({"...#...", "...#..."}), {Between("stairs", {2, 1}, {4, 1}, 2.0)});
  const std::vector<Cell> goals = {{5, 1}};
  EXPECT_THAT(ComputeFlowField(map, {.goals = goals}, {}, scratch)->portals, SizeIs(1));
  EXPECT_THAT(ComputeFlowField(map, {.goals = goals, .region = Rectangle{3, 0, 4, 2}}, {}, scratch)->portals,
              IsEmpty());
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
      goals.push_back(generator.Chance(0.8) ? generator.WalkableCellOf(map, agent.footprint)
                                            : generator.CellOf(map));
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

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedFlowFieldTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
