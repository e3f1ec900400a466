#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/goal_search.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

class NearestGoalTest : public ::testing::Test {
 protected:
  absl::StatusOr<NearestGoalResult> Find(const GridMap& map, const PathQuery& query,
                                         const std::vector<Cell>& goals, const Budget& budget = {}) {
    return FindPathToNearest(map, query, goals, budget, scratch_);
  }

 private:
  Scratch scratch_{std::size_t{1} << 26};
};

TEST_F(NearestGoalTest, SaysWhenABudgetRanOut) {
  const GridMap map = DrawMap({".....", ".###.", ".#.#.", ".#...", ".####"});
  for (const std::uint64_t limit : {0U, 1U, 2U}) {
    const auto result = Find(map, {.start = {0, 4}, .algorithm = Algorithm::kAStar}, {{2, 2}, {2, 3}},
                             {.max_expansions = limit});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->path.outcome, Outcome::kBudgetExhausted);
    EXPECT_EQ(result->path.reason, OutcomeReason::kExpansionLimit);
    EXPECT_LE(result->path.statistics.expanded, limit);
  }
}

TEST_F(NearestGoalTest, RefusesBadQuestions) {
  const GridMap map = DrawMap({"..#"});
  EXPECT_THAT(Find(map, {}, {}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kMissingField, "goals"));
  EXPECT_THAT(Find(map, {}, std::vector<Cell>(1'000'000)),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "goals"));
  EXPECT_THAT(Find(map, {}, {{0, 0}, {0, 1}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "goals[1]"));
  EXPECT_THAT(Find(map, {}, {{2, 0}}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kGoalBlocked, "goals"));
  EXPECT_THAT(Find(map, {.start = {2, 0}}, {{0, 0}}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "start"));
  EXPECT_THAT(Find(map, {.start = {9, 0}}, {{0, 0}}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "start"));
  EXPECT_THAT(Find(map, {.unreachable_policy = UnreachablePolicy::kNearestByDistance}, {{0, 0}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "goals"));
  EXPECT_THAT(Find(map, {.algorithm = Algorithm::kLazyThetaStar}, {{0, 0}}),
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kBadValue, "goals"));
}

// Adds cells on the rim of a square around a cell, many of which are about as far.
void AddRim(const GridMap& map, Cell middle, Generator& generator, std::vector<Cell>& goals) {
  const int radius = generator.Between(1, 40);
  for (int i = generator.Between(16, 300); i > 0; --i) {
    Cell offset{generator.Between(-radius, radius), generator.Chance(0.5) ? radius : -radius};
    if (generator.Chance(0.5)) {
      std::swap(offset.x, offset.y);
    }
    const Cell goal{middle.x + offset.x, middle.y + offset.y};
    if (map.Contains(goal)) {
      goals.push_back(goal);
    }
  }
}

class GeneratedNearestGoalTest : public NearestGoalTest, public ::testing::WithParamInterface<MapAndAgent> {};

TEST_P(GeneratedNearestGoalTest, AgreesWithTheOracle) {
  const Agent& agent = GetParam().agent;
  for (std::uint64_t seed = 1; seed <= Rounds(80); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = GetParam().Make(generator, seed % 3 == 0 ? 140 : 32);
    if (seed % 4 == 0) {
      // As where indexes do not fit into memory.
      map.Prepare({.max_bytes = 0});
    }
    const Cell start = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, start, agent.footprint)) {
      continue;
    }
    std::vector<Cell> goals = {generator.WalkableCellOf(map, agent.footprint)};
    for (int i = generator.Between(0, seed % 5 == 0 ? 40 : 6); i > 0; --i) {
      goals.push_back(generator.CellOf(map));
    }
    goals.push_back(seed % 10 == 0 ? start : goals.front());
    if (seed % 5 == 1) {
      AddRim(map, seed % 2 == 0 ? start : generator.CellOf(map), generator, goals);
    }
    if (std::ranges::none_of(goals, [&](Cell goal) { return CanStand(map, goal, agent.footprint); })) {
      continue;
    }
    const Oracle oracle(map, agent.corner_rule, start, agent.footprint);
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const std::optional<double> cost = oracle.CostTo(goals[i]);
      if (cost && (!nearest || *cost < *oracle.CostTo(goals[*nearest]) - 1e-6)) {
        nearest = i;
      }
    }
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra}) {
      const auto result = Find(map,
                               {.start = start,
                                .corner_rule = agent.corner_rule,
                                .algorithm = algorithm,
                                .footprint = agent.footprint},
                               goals);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_EQ(result->path.outcome, nearest ? Outcome::kFound : Outcome::kUnreachable);
      if (nearest) {
        ASSERT_EQ(result->goal_index, *nearest);
        ASSERT_EQ(PathFault(map, agent.corner_rule, start, goals[*nearest], result->path.points,
                            result->path.cost, agent.footprint),
                  "");
        ASSERT_NEAR(result->path.cost, *oracle.CostTo(goals[*nearest]), 1e-6 * (1.0 + result->path.cost));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GeneratedNearestGoalTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

}  // namespace
}  // namespace waystar::core
