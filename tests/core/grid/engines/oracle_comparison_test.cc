// Every search against the oracle, on generated maps.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/overlay.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/environment.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/profiles.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

// Each must give an optimal path wherever there is one.
constexpr Algorithm kAlgorithms[] = {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra,
                                     Algorithm::kJumpPoint};

class OracleComparisonTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
  // Asks every algorithm for paths from one cell to several on `map`.
  void Judge(const GridMap& map, Generator& generator) {
    constexpr int kGoals = 4;
    const Agent& agent = GetParam().agent;
    const Cell start = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, start, agent.footprint)) {
      return;
    }
    const Oracle oracle(map, agent.corner_rule, start, agent.footprint);
    for (int i = 0; i < kGoals; ++i) {
      const Cell goal = generator.CellOf(map);
      const UnreachablePolicy policy =
          i % 2 == 0 ? UnreachablePolicy::kReport : UnreachablePolicy::kNearestByDistance;
      SCOPED_TRACE(absl::StrCat("from ", start.x, ",", start.y, " to ", goal.x, ",", goal.y));
      for (const Algorithm algorithm : kAlgorithms) {
        SCOPED_TRACE(absl::StrCat("algorithm ", static_cast<int>(algorithm)));
        const PathQuery query{.start = start,
                              .goal = goal,
                              .corner_rule = agent.corner_rule,
                              .algorithm = algorithm,
                              .unreachable_policy = policy,
                              .footprint = agent.footprint};
        Judge(map, query, oracle);
        ++queries_;
      }
    }
  }

  std::int64_t queries() const { return queries_; }

 private:
  static bool HasJumps(const GridMap& map, int footprint) {
    const Connectivity connectivity = map.settings().connectivity;
    return connectivity != Connectivity::kSix &&
           (map.HasUniformCost() || (connectivity == Connectivity::kEight && footprint == 1));
  }

  void Judge(const GridMap& map, const PathQuery& query, const Oracle& oracle) {
    const auto result = FindPath(map, query, {}, scratch_);
    if (query.algorithm == Algorithm::kJumpPoint && !HasJumps(map, query.footprint)) {
      EXPECT_THAT(result, IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kAlgorithmUnsuited,
                                  "algorithm"));
      return;
    }
    const bool reports = query.unreachable_policy == UnreachablePolicy::kReport;
    if (reports && !CanStand(map, query.goal, query.footprint)) {
      EXPECT_THAT(result, IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kGoalBlocked, "goal"));
      return;
    }
    ASSERT_TRUE(result.ok()) << result.status();
    const std::optional<double> optimal = oracle.CostTo(query.goal);
    if (reports && !optimal) {
      EXPECT_EQ(result->outcome, Outcome::kUnreachable);
      EXPECT_EQ(result->reason, OutcomeReason::kNoRoute);
      EXPECT_TRUE(result->points.empty());
      EXPECT_EQ(result->cost, 0.0);
      return;
    }
    ASSERT_EQ(result->outcome, optimal ? Outcome::kFound : Outcome::kPartial);
    const Cell end = optimal ? query.goal : oracle.NearestTo(query.goal);
    EXPECT_EQ(result->reason, optimal                                      ? OutcomeReason::kGoalReached
                              : CanStand(map, query.goal, query.footprint) ? OutcomeReason::kNoRoute
                                                                           : OutcomeReason::kGoalBlocked);
    EXPECT_EQ(result->end, end);
    EXPECT_EQ(
        PathFault(map, query.corner_rule, query.start, end, result->points, result->cost, query.footprint),
        "");
    EXPECT_NEAR(result->cost, *oracle.CostTo(end), 1e-6 * (1.0 + result->cost));
  }

  // One for all, as in a worker: what one search leaves behind must not reach the next.
  Scratch scratch_{std::size_t{1} << 26};
  std::int64_t queries_ = 0;
};

TEST_P(OracleComparisonTest, AgreesOnGeneratedAndEditedMaps) {
  constexpr int kBatches = 2;
  const std::uint64_t maps = NumberFromEnvironment("WAYSTAR_ORACLE_MAPS", Rounds(375));
  const std::uint64_t first_seed = NumberFromEnvironment("WAYSTAR_ORACLE_SEED", 1);
  for (std::uint64_t seed = first_seed; seed < first_seed + maps; ++seed) {
    Generator generator(seed);
    GridMap map = GetParam().Make(generator, seed % 5 == 0 ? 140 : 32);
    if (seed % 3 == 0) {
      // As where indexes do not fit into memory.
      map.Prepare({.max_bytes = 0});
    }
    Judge(map, generator);
    // Edits repair what was derived from the map before; that must be as good as derived anew.
    for (int batch = 1; batch <= kBatches; ++batch) {
      const int edits = generator.Between(1, 5);
      auto edited = ApplyEdits(
          map, GetParam().own_costs ? generator.AnyEdits(map, edits) : generator.Edits(map, edits));
      ASSERT_TRUE(edited.ok()) << edited.status();
      map = std::move(edited->map);
      if (GetParam().own_costs) {
        map = generator.WithStepCostsChanged(map);
      }
      Judge(map, generator);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", after " << batch << " batches of edits";
    }
  }
  std::printf("%lld queries on maps of seeds %llu to %llu\n", static_cast<long long>(queries()),
              static_cast<unsigned long long>(first_seed),
              static_cast<unsigned long long>(first_seed + maps - 1));
}

INSTANTIATE_TEST_SUITE_P(Agents, OracleComparisonTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

// Paths of agents that move in different ways on one map.

class GeneratedProfiles : public ::testing::TestWithParam<int> {};

TEST_P(GeneratedProfiles, PathsAreOptimalOnTheMapBuiltAnew) {
  constexpr Algorithm kExact[] = {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra};
  Generator generator(static_cast<std::uint64_t>(GetParam()));
  Scratch scratch(std::size_t{64} << 20);
  int found = 0;
  for (int i = 0; i < 12; ++i) {
    GridMap map = generator.Map(
        {.max_side = 100, .max_cells = 2000, .weighted = true, .connectivity = AnyConnectivity(generator)});
    const MovementProfile profiles[] = {AnyProfile(generator, map.settings()),
                                        AnyProfile(generator, map.settings())};
    for (int round = 0; round < 8; ++round) {
      const MovementProfile& profile = profiles[generator.Between(0, 1)];
      std::shared_ptr<const GridMap> holder;
      GridMap view = ViewOf(map, profile, holder);
      GridMap judge = Rebuilt(map, TerrainRules(profile, map.settings()));
      if (generator.Chance(0.3)) {
        const Overlay overlay{.blocked = {.rectangles = {{map.width() / 3, map.height() / 3, 3, 3}}},
                              .ignored_obstacles = {"o1"}};
        view = *WithOverlay(view, overlay);
        judge = *WithOverlay(judge, overlay);
      }
      const Cell start = generator.WalkableCellOf(judge, profile.footprint);
      if (CanStand(judge, start, profile.footprint)) {
        const Oracle oracle(judge, profile.corner_rule, start, profile.footprint);
        for (int goals = 0; goals < 4; ++goals) {
          const Cell goal = generator.WalkableCellOf(judge, profile.footprint);
          if (!CanStand(judge, goal, profile.footprint)) {
            continue;
          }
          const auto result = FindPath(view,
                                       {.start = start,
                                        .goal = goal,
                                        .corner_rule = profile.corner_rule,
                                        .algorithm = kExact[generator.Between(0, 2)],
                                        .footprint = profile.footprint},
                                       {}, scratch);
          ASSERT_TRUE(result.ok()) << result.status();
          const auto cost = oracle.CostTo(goal);
          ASSERT_EQ(result->outcome == Outcome::kFound, cost.has_value());
          if (cost) {
            ++found;
            ASSERT_NEAR(result->cost, *cost, 1e-6 * (1 + *cost));
            ASSERT_EQ(PathFault(judge, profile.corner_rule, start, goal, result->points, result->cost,
                                profile.footprint),
                      "");
          }
        }
      }
      map = ApplyEdits(map, generator.AnyEdits(map, generator.Between(1, 3)))->map;
    }
  }
  EXPECT_GT(found, 50);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedProfiles, ::testing::Range(1, 9));

}  // namespace
}  // namespace waystar::core
