// Every search against the oracle, on generated maps.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/map/edit.h"
#include "server/core/search/find_path.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Generator;
using ::waystar::testing::Oracle;
using ::waystar::testing::PathFault;

struct Family {
  Connectivity connectivity;
  CornerRule rule;
  Algorithm algorithm;
  bool weighted;
};

std::string NameOf(const ::testing::TestParamInfo<Family>& info) {
  const Family& family = info.param;
  const char* rule = family.rule == CornerRule::kNoCornerCutting ? "NoCornerCutting"
                     : family.rule == CornerRule::kOneSideFree   ? "OneSideFree"
                                                                 : "Always";
  return absl::StrCat(family.connectivity == Connectivity::kFour ? "Four" : "Eight", rule,
                      family.algorithm == Algorithm::kDijkstra    ? "Dijkstra"
                      : family.algorithm == Algorithm::kJumpPoint ? "Jps"
                                                                  : "AStar",
                      family.weighted ? "Weighted" : "Uniform");
}

std::vector<Family> Families() {
  std::vector<Family> families;
  for (const bool weighted : {false, true}) {
    for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint}) {
      families.push_back({Connectivity::kFour, CornerRule::kNoCornerCutting, algorithm, weighted});
      for (const CornerRule rule :
           {CornerRule::kNoCornerCutting, CornerRule::kOneSideFree, CornerRule::kAlways}) {
        families.push_back({Connectivity::kEight, rule, algorithm, weighted});
      }
    }
  }
  return families;
}

class OracleComparisonTest : public ::testing::TestWithParam<Family> {};

TEST_P(OracleComparisonTest, AgreesOnGeneratedMaps) {
  constexpr std::uint64_t kMaps = 400;
  constexpr int kGoalsPerMap = 5;
  const Family& family = GetParam();
  // One scratch for all, as in a worker: what one search leaves behind must not reach the next.
  Scratch scratch(std::size_t{1} << 26);
  for (std::uint64_t seed = 1; seed <= kMaps; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = seed % 10 == 0 ? 140 : 32,
                                 .weighted = family.weighted,
                                 .connectivity = family.connectivity});
    if (seed % 3 == 0) {
      // As where indexes do not fit into memory.
      map.Prepare(0);
    }
    const Cell start = generator.WalkableCellOf(map);
    if (!map.IsWalkable(start)) {
      continue;
    }
    const Oracle oracle(map, family.rule, start);
    for (int i = 0; i < kGoalsPerMap; ++i) {
      const Cell goal = generator.CellOf(map);
      const PathQuery query{.start = start,
                            .goal = goal,
                            .corner_rule = family.rule,
                            .algorithm = family.algorithm,
                            .unreachable_policy = UnreachablePolicy::kNearestByDistance};
      const auto result = FindPath(map, query, {}, scratch);
      ASSERT_TRUE(result.ok()) << result.status();
      const std::optional<double> optimal = oracle.CostTo(goal);
      ASSERT_EQ(result->outcome, optimal ? Outcome::kFound : Outcome::kPartial);
      const Cell end = optimal ? goal : oracle.NearestTo(goal);
      ASSERT_EQ(PathFault(map, family.rule, start, end, result->points, result->cost), "");
      ASSERT_NEAR(result->cost, *oracle.CostTo(end), 1e-6 * (1.0 + result->cost));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, OracleComparisonTest, ::testing::ValuesIn(Families()), NameOf);

// The same question after other questions, from a fresh scratch, and from a map that was made by other edits.
TEST(DeterminismTest, SameQuestionSameAnswer) {
  Scratch used(std::size_t{1} << 26);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = 70, .weighted = seed % 2 == 0});
    const Cell start = generator.WalkableCellOf(map);
    const Cell goal = generator.WalkableCellOf(map);
    if (!map.IsWalkable(start) || !map.IsWalkable(goal)) {
      continue;
    }
    // Blocks and unblocks again what was free: the cells are the same, the history is not.
    const Rectangle everything = map.bounds();
    std::vector<Edit> back_and_forth = {{.kind = Edit::Kind::kBlock, .shape = {.rectangles = {everything}}}};
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        if (!map.HasObstacle({x, y})) {
          back_and_forth.push_back({.kind = Edit::Kind::kUnblock, .shape = {.cells = {{x, y}}}});
        }
      }
    }
    const auto edited = ApplyEdits(map, back_and_forth);
    ASSERT_TRUE(edited.ok()) << edited.status();

    Scratch fresh(std::size_t{1} << 26);
    const PathQuery query{.start = start, .goal = goal};
    const auto first = FindPath(map, query, {}, fresh);
    const auto second = FindPath(edited->map, query, {}, used);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->cost, second->cost);
    EXPECT_EQ(first->points, second->points) << "seed " << seed;
    EXPECT_EQ(first->statistics.expanded, second->statistics.expanded);
  }
}

// On paths of ten thousand steps and more the sum of the costs stays exact.
TEST(CostTest, LongPathsKeepTheirPrecision) {
  // A diagonal corridor: every step is diagonal.
  constexpr int kSide = 8192;
  GridMap map = *GridMap::Create(kSide, kSide, {}, 0, true);
  std::vector<Edit> edits(1);
  edits[0].kind = Edit::Kind::kUnblock;
  for (int i = 0; i < kSide; ++i) {
    edits[0].shape.cells.push_back({i, i});
  }
  map = ApplyEdits(map, edits)->map;
  Scratch scratch(std::size_t{1} << 28);
  const auto result =
      FindPath(map, {.start = {0, 0}, .goal = {kSide - 1, kSide - 1}, .corner_rule = CornerRule::kAlways}, {},
               scratch);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_DOUBLE_EQ(result->cost, (kSide - 1) * kSqrt2);
}

}  // namespace
}  // namespace waystar::core
