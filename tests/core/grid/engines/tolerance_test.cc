// Paths that may cost more than the cheapest, against the oracle.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "tests/core/grid/agents.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

constexpr double kRounding = 1e-6;

class ToleranceTest : public ::testing::TestWithParam<MapAndAgent> {
 protected:
  // Returns the path to query.goal after checking it and its bound; nullopt if the algorithm is unsuited.
  std::optional<PathResult> Judge(const GridMap& map, const PathQuery& query, double optimal) {
    const auto found = FindPath(map, query, {}, scratch_);
    if (!found.ok()) {
      EXPECT_THAT(found, IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kAlgorithmUnsuited,
                                 "algorithm"));
      return std::nullopt;
    }
    EXPECT_EQ(found->outcome, Outcome::kFound);
    EXPECT_EQ(PathFault(map, query.corner_rule, query.start, query.goal, found->points, found->cost,
                        query.footprint),
              "");
    EXPECT_LE(found->cost, optimal * (1.0 + query.tolerance) + kRounding);
    EXPECT_GE(found->bound, 1.0);
    EXPECT_LE(found->bound, 1.0 + query.tolerance);
    EXPECT_GE(optimal * found->bound, found->cost - kRounding * (1.0 + optimal));
    return *found;
  }

  Scratch scratch_{std::size_t{1} << 26};
};

TEST_P(ToleranceTest, PathsCostAtMostThatMuchMore) {
  const Agent& agent = GetParam().agent;
  // Expansions without and with a tolerance of 0.5.
  std::map<Algorithm, std::pair<std::uint64_t, std::uint64_t>> expanded;
  for (std::uint64_t seed = 1; seed <= Rounds(100) && !HasFailure(); ++seed) {
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, seed % 2 == 0 ? 140 : 32);
    const Cell start = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, start, agent.footprint)) {
      continue;
    }
    const Oracle oracle(map, agent.corner_rule, start, agent.footprint);
    for (int i = 0; i < 4; ++i) {
      const Cell goal = generator.WalkableCellOf(map, agent.footprint);
      const std::optional<double> optimal = oracle.CostTo(goal);
      if (!optimal) {
        continue;
      }
      for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kJumpPoint}) {
        for (const double tolerance : {0.0, 1e-9, 0.1, 0.5, 2.0, 10.0}) {
          SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", start.x, ",", start.y, " to ", goal.x, ",", goal.y,
                                    ", algorithm ", static_cast<int>(algorithm), ", tolerance ", tolerance));
          const std::optional<PathResult> found = Judge(map,
                                                        {.start = start,
                                                         .goal = goal,
                                                         .corner_rule = agent.corner_rule,
                                                         .algorithm = algorithm,
                                                         .footprint = agent.footprint,
                                                         .tolerance = tolerance},
                                                        *optimal);
          if (found && tolerance == 0.0) {
            expanded[algorithm].first += found->statistics.expanded;
          } else if (found && tolerance == 0.5) {
            expanded[algorithm].second += found->statistics.expanded;
          }
        }
      }
    }
  }
  for (const auto& [algorithm, sums] : expanded) {
    // Few of the maps with costs of single cells suit jump point search.
    if (sums.first > 100) {
      EXPECT_LT(sums.second, sums.first) << "algorithm " << static_cast<int>(algorithm);
    }
  }
}

TEST_P(ToleranceTest, HoldsForTheCheapestOfSeveralGoals) {
  const Agent& agent = GetParam().agent;
  for (std::uint64_t seed = 1; seed <= Rounds(50) && !HasFailure(); ++seed) {
    Generator generator(seed);
    const GridMap map = GetParam().Make(generator, 64);
    const Cell start = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, start, agent.footprint)) {
      continue;
    }
    const Oracle oracle(map, agent.corner_rule, start, agent.footprint);
    std::vector<Cell> goals;
    std::optional<double> optimal;
    for (int i = 0; i < 4; ++i) {
      goals.push_back(generator.WalkableCellOf(map, agent.footprint));
      const std::optional<double> cost = oracle.CostTo(goals.back());
      optimal = cost && (!optimal || *cost < *optimal) ? cost : optimal;
    }
    const auto found = FindPathToNearest(
        map,
        {.start = start, .corner_rule = agent.corner_rule, .footprint = agent.footprint, .tolerance = 0.5},
        goals, {}, scratch_);
    ASSERT_EQ(found.status(), absl::OkStatus());
    if (optimal) {
      EXPECT_LE(found->path.cost, 1.5 * *optimal + kRounding) << "seed " << seed;
      EXPECT_GE(*optimal * found->path.bound, found->path.cost - kRounding) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, ToleranceTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

TEST(ToleranceOfOthersTest, ExactSearchesAndPathsToTheNearestCellIgnoreIt) {
  Scratch scratch(std::size_t{1} << 26);
  for (std::uint64_t seed = 1; seed <= Rounds(60); ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = 64, .weighted = seed % 2 == 0});
    PathQuery query{.start = generator.WalkableCellOf(map), .goal = generator.CellOf(map)};
    if (!CanStand(map, query.start)) {
      continue;
    }
    const bool is_reached = Oracle(map, query.corner_rule, query.start).CostTo(query.goal).has_value();
    query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
    query.algorithm = is_reached ? Algorithm::kDijkstra : Algorithm::kAuto;
    const auto exact = FindPath(map, query, {}, scratch);
    ASSERT_EQ(exact.status(), absl::OkStatus());
    const std::vector<Cell> points(exact->points.begin(), exact->points.end());
    query.tolerance = 3.0;
    const auto found = FindPath(map, query, {}, scratch);
    ASSERT_EQ(found.status(), absl::OkStatus());
    EXPECT_THAT(found->points, ::testing::ElementsAreArray(points)) << "seed " << seed;
    EXPECT_EQ(found->bound, 1.0);
  }
}

}  // namespace
}  // namespace waystar::core
