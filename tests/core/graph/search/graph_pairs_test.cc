// Matrices and reachability of pairs on waypoint graphs. FindGraphPath is the judge of each entry.

#include "server/core/graph/search/graph_pairs.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/graph/search/random_graphs.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ForSeeds;
using ::waystar::testing::kSampleRoom;
using ::waystar::testing::kSampleSnap;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;
using ::waystar::testing::SampleGraph;
using ::waystar::testing::SamplePlaces;
using ::waystar::testing::SampleTags;
using ::waystar::testing::Told;

// a - b - c > d, two units apart, and x off by itself.
WaypointSpec OneWayRow() {
  return {.nodes = {{"a", {0, 0}}, {"b", {2, 0}}, {"c", {4, 0}}, {"d", {6, 0}}, {"x", {9, 9}}},
          .edges = {{.name = {"a", "b"}, .tags = {"dry"}},
                    {.name = {"b", "c"}},
                    {.name = {"c", "d", true}, .tags = {"dry"}}}};
}

class GraphPairsTest : public ::testing::Test {
 protected:
  // "0 2 | 2 0", or the error.
  std::string Matrix(const std::vector<GraphPlace>& starts, const std::vector<GraphPlace>& goals,
                     const std::vector<std::string>& tags = {}, const Budget& budget = {}) {
    const absl::StatusOr<GraphMatrix> matrix = ComputeGraphMatrix(
        editor_.graph(), {.starts = starts, .goals = goals, .snap_radius = 2, .required_tags = tags}, budget,
        scratch_);
    if (!matrix.ok()) {
      return Told(matrix.status());
    }
    expanded_ = matrix->expanded;
    std::vector<std::string> rows;
    for (std::size_t start = 0; start < starts.size(); ++start) {
      rows.push_back(
          absl::StrJoin(absl::MakeSpan(matrix->costs).subspan(start * goals.size(), goals.size()), " "));
    }
    return absl::StrJoin(rows, " | ");
  }

  // "yes no", or the error.
  std::string Reach(const std::vector<GraphPair>& pairs, const std::vector<std::string>& tags = {},
                    const Budget& budget = {}) {
    const absl::StatusOr<std::vector<bool>> reachable = CheckGraphReachability(
        editor_.graph(), {.pairs = pairs, .snap_radius = 2, .required_tags = tags}, budget, scratch_);
    if (!reachable.ok()) {
      return Told(reachable.status());
    }
    return absl::StrJoin(*reachable, " ", [](std::string* out, bool is_reachable) {
      absl::StrAppend(out, is_reachable ? "yes" : "no");
    });
  }

  GraphEditor editor_{*WaypointGraph::Create(OneWayRow())};
  GraphScratch scratch_{kSampleRoom};
  std::uint64_t expanded_ = 0;
};

TEST_F(GraphPairsTest, MatricesHoldTheCostOfEachPair) {
  EXPECT_EQ(Matrix({"a", "d"}, {"a", "b", "d", "x"}), "0 2 6 -1 | -1 -1 0 -1");
  EXPECT_EQ(Matrix({"a", "c"}, {"b", "d"}, {"dry"}), "2 -1 | -1 2");
  EXPECT_EQ(Matrix({"a"}, {"a", "b"}, {"unheard-of"}), "0 -1");
}

TEST_F(GraphPairsTest, TheSideWithFewerNodesIsFloodedFrom) {
  // One flood to c, which expands c and b.
  EXPECT_EQ(Matrix({"a", "b"}, {"c"}), "4 | 2");
  EXPECT_EQ(expanded_, 2U);
  EXPECT_EQ(Matrix({"a", "a", "a"}, {"b", "c"}), "2 4 | 2 4 | 2 4");
  EXPECT_EQ(expanded_, 2U);
}

TEST_F(GraphPairsTest, LinesCount) {
  ASSERT_EQ(editor_.SetAutoConnect({.max_distance = 0.5}), absl::OkStatus());
  // These see each other, and a tag keeps them from going there.
  EXPECT_EQ(Matrix({WorldPoint{50, 50}}, {WorldPoint{50, 58}, WorldPoint{53, 50}}), "8 3");
  EXPECT_EQ(Matrix({WorldPoint{50, 50}}, {WorldPoint{50, 58}}, {"dry"}), "NO_NODE_NEAR starts[0]");
  EXPECT_EQ(Matrix({WorldPoint{50, 50}}, {WorldPoint{50, 58}, "a"}), "NO_NODE_NEAR starts[0]");
  EXPECT_EQ(Matrix({"a"}, {"b", WorldPoint{50, 58}}), "NO_NODE_NEAR goals[1]");
  EXPECT_EQ(Reach({{WorldPoint{50, 50}, WorldPoint{50, 58}}}), "yes");
  EXPECT_EQ(Reach({{WorldPoint{50, 50}, "a"}}), "NO_NODE_NEAR pairs[0].start");
}

TEST_F(GraphPairsTest, PairsAreReachableOrNot) {
  EXPECT_EQ(Reach({{"a", "d"}, {"d", "a"}, {"a", "x"}, {"x", "x"}, {"c", "a"}}), "yes no no yes yes");
  EXPECT_EQ(Reach({}), "");
}

TEST_F(GraphPairsTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Matrix({"a", "nobody"}, {"b"}), "NODE_NOT_FOUND starts[1].node");
  EXPECT_EQ(Matrix({"a"}, {"no way"}), "BAD_NODE_ID goals[0].node");
  EXPECT_EQ(Matrix({"a"}, {WorldPoint{0, 0, 1e300}}), "BAD_VALUE goals[0].position.z");
  EXPECT_EQ(Matrix({"a"}, {"b"}, {""}), "BAD_PROFILE agent.profile.required_tags[0]");
  EXPECT_EQ(Reach({{"a", "b"}, {"nobody", "b"}}), "NODE_NOT_FOUND pairs[1].start.node");
  EXPECT_EQ(Reach({{"a", "no way"}}), "BAD_NODE_ID pairs[0].goal.node");
  EXPECT_EQ(Reach({{WorldPoint{1e300, 0}, "a"}}), "BAD_VALUE pairs[0].start.position.x");
  EXPECT_EQ(Reach({{"a", WorldPoint{1, 5}}}), "NO_NODE_NEAR pairs[0].goal");
  EXPECT_EQ(Reach({{"a", "b"}}, {""}), "BAD_PROFILE agent.profile.required_tags[0]");
}

TEST_F(GraphPairsTest, BudgetsEndThem) {
  std::atomic<bool> yes = true;
  for (const auto& [budget, told] : {std::pair(Budget{.cancelled = &yes}, "CANCELLED "),
                                     {Budget{.evicted = &yes}, "SNAPSHOT_EVICTED "},
                                     {Budget{.deadline = {}}, "DEADLINE_EXCEEDED "},
                                     {Budget{.max_expansions = 3}, "REGION_TOO_LARGE "}}) {
    EXPECT_EQ(Matrix({"a", "b"}, {"c", "d", "x"}, {}, budget), told);
    EXPECT_EQ(Reach({{"a", "b"}, {"b", "x"}}, {}, budget), told);
  }
  GraphScratch small(16);
  const std::vector<GraphPlace> places = {"a", "b"};
  EXPECT_EQ(
      Told(ComputeGraphMatrix(editor_.graph(), {.starts = places, .goals = places}, {}, small).status()),
      "REGION_TOO_LARGE ");
}

TEST(GraphPairsByChanceTest, AgreeWithSearchesForEachPair) {
  GraphScratch scratch(kSampleRoom);
  int found = 0;
  int direct = 0;
  ForSeeds(150, [&](Random& random) {
    const WaypointGraph graph = SampleGraph(random);
    for (int i = 0; i < 4; ++i) {
      const std::vector<GraphPlace> starts = SamplePlaces(graph, random, random.Between(1, 6));
      const std::vector<GraphPlace> goals = SamplePlaces(graph, random, random.Between(1, 6));
      const std::vector<std::string> tags = SampleTags(random);
      std::vector<double> costs;
      std::vector<GraphPair> pairs;
      for (const GraphPlace& start : starts) {
        for (const GraphPlace& goal : goals) {
          const absl::StatusOr<GraphPathResult> path = FindGraphPath(
              graph, {.start = start, .goals = {goal}, .snap_radius = kSampleSnap, .required_tags = tags}, {},
              scratch);
          const bool is_found = path.ok() && path->outcome == Outcome::kFound;
          costs.push_back(is_found ? path->cost : GraphMatrix::kUnreachable);
          pairs.push_back({start, goal});
          found += is_found ? 1 : 0;
          direct += is_found && path->nodes.empty() ? 1 : 0;
        }
      }
      const absl::StatusOr<GraphMatrix> matrix = ComputeGraphMatrix(
          graph, {.starts = starts, .goals = goals, .snap_radius = kSampleSnap, .required_tags = tags}, {},
          scratch);
      ASSERT_EQ(matrix.status(), absl::OkStatus());
      ASSERT_EQ(matrix->costs, costs) << "query " << i;
      // Some of the pairs, in another order.
      std::vector<GraphPair> asked;
      std::vector<bool> expected;
      for (int j = 0; j < 8; ++j) {
        const int pair = random.Between(0, static_cast<int>(pairs.size()) - 1);
        asked.push_back(pairs[static_cast<std::size_t>(pair)]);
        expected.push_back(costs[static_cast<std::size_t>(pair)] != GraphMatrix::kUnreachable);
      }
      const absl::StatusOr<std::vector<bool>> reachable = CheckGraphReachability(
          graph, {.pairs = asked, .snap_radius = kSampleSnap, .required_tags = tags}, {}, scratch);
      ASSERT_EQ(reachable.status(), absl::OkStatus());
      ASSERT_EQ(*reachable, expected) << "query " << i;
    }
  });
  EXPECT_GT(found, static_cast<int>(Rounds(1000)));
  EXPECT_GT(direct, static_cast<int>(Rounds(100)));
}

}  // namespace
}  // namespace waystar::core
