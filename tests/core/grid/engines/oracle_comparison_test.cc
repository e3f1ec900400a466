// Every search against the oracle, on generated maps.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/environment.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::CanStand;
using ::waystar::testing::Generator;
using ::waystar::testing::IsError;
using ::waystar::testing::NumberFromEnvironment;
using ::waystar::testing::Oracle;
using ::waystar::testing::PathFault;
using ::waystar::testing::Rounds;

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
      return;
    }
    ASSERT_EQ(result->outcome, optimal ? Outcome::kFound : Outcome::kPartial);
    const Cell end = optimal ? query.goal : oracle.NearestTo(query.goal);
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

}  // namespace
}  // namespace waystar::core
