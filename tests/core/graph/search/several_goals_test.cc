// Paths to the nearest of several goals on a waypoint graph. A search for each goal alone is the judge.

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/graph/search/random_graphs.h"

namespace waystar::core {
namespace {

using ::testing::IsEmpty;
using ::waystar::testing::kSampleRoom;
using ::waystar::testing::kSampleSnap;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;
using ::waystar::testing::SampleGraph;
using ::waystar::testing::SamplePlace;
using ::waystar::testing::SamplePlaces;
using ::waystar::testing::SampleTags;
using ::waystar::testing::Told;

// a - b - c - d - e, a unit apart, and x off by itself.
WaypointSpec RowOfFive() {
  return {.nodes = {{"a", {0, 0}}, {"b", {1, 0}}, {"c", {2, 0}}, {"d", {3, 0}}, {"e", {4, 0}}, {"x", {9, 9}}},
          .edges = {{.name = {"a", "b"}}, {.name = {"b", "c"}}, {.name = {"c", "d"}}, {.name = {"d", "e"}}}};
}

class SeveralGraphGoalsTest : public ::testing::Test {
 protected:
  // "goal 1: c b", "UNREACHABLE", or the error.
  std::string Find(const GraphQuery& query, const Budget& budget = {}) {
    const absl::StatusOr<GraphPathResult> result = FindGraphPath(editor_.graph(), query, budget, scratch_);
    if (!result.ok()) {
      return Told(result.status());
    }
    result_ = *result;
    if (result->outcome == Outcome::kUnreachable) {
      return "UNREACHABLE";
    }
    std::string told = absl::StrCat("goal ", result->goal_index, ":");
    for (const NodeNumber node : result->nodes) {
      absl::StrAppend(&told, " ", editor_.graph().IdOf(node));
    }
    return told;
  }

  GraphEditor editor_{*WaypointGraph::Create(RowOfFive())};
  GraphScratch scratch_{kSampleRoom};
  GraphPathResult result_;
};

TEST_F(SeveralGraphGoalsTest, TheCheapestToReachCounts) {
  EXPECT_EQ(Find({.start = "c", .goals = {"a", "d", "e"}}), "goal 1: c d");
  EXPECT_EQ(result_.cost, 1.0);
  EXPECT_EQ(Find({.start = "c", .goals = {"x", "a"}}), "goal 1: c b a");
  EXPECT_EQ(Find({.start = "c", .goals = {"a", "c"}}), "goal 1: c");
}

TEST_F(SeveralGraphGoalsTest, OfEquallyCheapOnesTheFirstCounts) {
  EXPECT_EQ(Find({.start = "c", .goals = {"d", "b"}}), "goal 0: c d");
  EXPECT_EQ(Find({.start = "c", .goals = {"b", "d"}}), "goal 0: c b");
  EXPECT_EQ(Find({.start = "c", .goals = {"a", "d", "d"}}), "goal 1: c d");
}

TEST_F(SeveralGraphGoalsTest, AnEdgeForNothingLeadsToAnEarlierGoal) {
  ASSERT_EQ(editor_.PutEdges({{.name = {"d", "e"}, .cost = 0}}, true), absl::OkStatus());
  EXPECT_EQ(Find({.start = "c", .goals = {"e", "d"}}), "goal 0: c d e");
}

TEST_F(SeveralGraphGoalsTest, TheLineToAPositionCounts) {
  EXPECT_EQ(Find({.start = "c", .goals = {WorldPoint{3, 1.5}, "a"}, .snap_radius = 2}), "goal 1: c b a");
  EXPECT_EQ(Find({.start = "c", .goals = {WorldPoint{3, 0.5}, "a"}, .snap_radius = 2}), "goal 0: c d");
  EXPECT_EQ(result_.cost, 1.5);
  EXPECT_EQ(Find({.start = WorldPoint{2, 1}, .goals = {"e", "b"}, .snap_radius = 2}), "goal 1: c b");
  EXPECT_EQ(result_.cost, 2.0);
}

TEST_F(SeveralGraphGoalsTest, DirectLinesCount) {
  ASSERT_EQ(editor_.SetAutoConnect({.max_distance = 0.5}), absl::OkStatus());
  // The start sees the first goal.
  EXPECT_EQ(Find({.start = WorldPoint{0, 1}, .goals = {WorldPoint{2, 1}, "e"}, .snap_radius = 5}), "goal 0:");
  EXPECT_EQ(result_.cost, 2.0);
  EXPECT_EQ(Find({.start = WorldPoint{0, 1}, .goals = {WorldPoint{2, 1}, "a"}, .snap_radius = 5}),
            "goal 1: a");
  // None of these needs a node.
  EXPECT_EQ(Find({.start = WorldPoint{50, 50}, .goals = {WorldPoint{59, 50}, WorldPoint{50, 58}}}),
            "goal 1:");
  EXPECT_EQ(Find({.start = WorldPoint{50, 50}, .goals = {WorldPoint{59, 50}, "a"}}), "NO_NODE_NEAR start");
}

TEST_F(SeveralGraphGoalsTest, DisabledGoalsArePassedOverUnlessAllAre) {
  ASSERT_EQ(editor_.SetNodesEnabled({"d", "x"}, false), absl::OkStatus());
  EXPECT_EQ(Find({.start = "c", .goals = {"d", "a"}}), "goal 1: c b a");
  EXPECT_EQ(Find({.start = "c", .goals = {"d", "e"}}), "UNREACHABLE");
  EXPECT_EQ(result_.reason, OutcomeReason::kNoRoute);
  EXPECT_EQ(Find({.start = "c", .goals = {"d", "x"}}), "GOAL_BLOCKED goals");
  EXPECT_EQ(Find({.start = "d", .goals = {"a", "b"}}), "START_BLOCKED start");
}

TEST_F(SeveralGraphGoalsTest, NoneWithinReachIsAnAnswer) {
  EXPECT_EQ(Find({.start = "x", .goals = {"a", "b"}}), "UNREACHABLE");
  EXPECT_EQ(result_.statistics.expanded, 1U);
  EXPECT_FALSE(result_.reaches_goal);
}

TEST_F(SeveralGraphGoalsTest, BadGoalsNameTheirField) {
  EXPECT_EQ(Find({.start = "a", .goals = {"b", "nobody"}}), "NODE_NOT_FOUND goals[1].node");
  EXPECT_EQ(Find({.start = "a", .goals = {"b", "no way"}}), "BAD_NODE_ID goals[1].node");
  EXPECT_EQ(Find({.start = "a", .goals = {"b", WorldPoint{0, 1e300}}}), "BAD_VALUE goals[1].position.y");
  EXPECT_EQ(Find({.start = "a", .goals = {"b", WorldPoint{50, 50}}}), "NO_NODE_NEAR goals[1]");
  EXPECT_EQ(
      Find({.start = "a", .goals = {"b", "c"}, .unreachable_policy = UnreachablePolicy::kNearestByDistance}),
      "BAD_VALUE goals");
}

TEST_F(SeveralGraphGoalsTest, BudgetsEndThem) {
  const GraphQuery query{.start = "a", .goals = {"d", "e"}};
  EXPECT_EQ(Find(query, {.max_expansions = 2}), "goal 0: a");
  EXPECT_EQ(result_.outcome, Outcome::kBudgetExhausted);
  EXPECT_EQ(result_.reason, OutcomeReason::kExpansionLimit);
  EXPECT_FALSE(result_.reaches_goal);
  // Enough to know the goal, and not for the path.
  EXPECT_EQ(Find(query, {.max_expansions = 4}), "goal 0: a");
  EXPECT_EQ(result_.outcome, Outcome::kBudgetExhausted);
  EXPECT_EQ(result_.statistics.expanded, 4U);
  std::atomic<bool> yes = true;
  EXPECT_EQ(Find(query, {.cancelled = &yes}), "CANCELLED ");
  EXPECT_EQ(Find(query, {.evicted = &yes}), "SNAPSHOT_EVICTED ");
  EXPECT_EQ(Find(query, {.deadline = {}}), "DEADLINE_EXCEEDED ");
  GraphScratch small(16);
  const absl::StatusOr<GraphPathResult> result = FindGraphPath(editor_.graph(), query, {}, small);
  ASSERT_EQ(result.status(), absl::OkStatus());
  EXPECT_EQ(result->reason, OutcomeReason::kScratchLimit);
  EXPECT_THAT(result->nodes, IsEmpty());
}

TEST_F(SeveralGraphGoalsTest, TheFloodEndsWhenNoOtherGoalCanBeCheaper) {
  // The flood expands c alone, as no goal is before the first at the cost of b.
  EXPECT_EQ(Find({.start = "c", .goals = {"b"}}), "goal 0: c b");
  const std::uint64_t alone = result_.statistics.expanded;
  EXPECT_EQ(Find({.start = "c", .goals = {"b", "e"}}), "goal 0: c b");
  EXPECT_EQ(result_.statistics.expanded, alone + 1);
}

TEST(SeveralGraphGoalsByChanceTest, AgreeWithSearchesForEachGoalAlone) {
  GraphScratch scratch(kSampleRoom);
  int found = 0;
  int direct = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(150); ++seed) {
    Random random(seed);
    const WaypointGraph graph = SampleGraph(seed);
    for (int i = 0; i < 12; ++i) {
      const std::vector<GraphPlace> goals = SamplePlaces(graph, random, random.Between(2, 6));
      GraphQuery query{.start = SamplePlace(graph, random),
                       .snap_radius = kSampleSnap,
                       .algorithm = i % 2 == 0 ? Algorithm::kAStar : Algorithm::kDijkstra,
                       .required_tags = SampleTags(random)};
      std::optional<GraphPathResult> best;
      std::vector<NodeNumber> best_nodes;
      bool is_start_blocked = false;
      std::size_t blocked = 0;
      for (std::size_t goal = 0; goal < goals.size(); ++goal) {
        query.goals = {goals[goal]};
        const absl::StatusOr<GraphPathResult> alone = FindGraphPath(graph, query, {}, scratch);
        is_start_blocked |= Told(alone.status()) == "START_BLOCKED start";
        blocked += Told(alone.status()) == "GOAL_BLOCKED goals[0]" ? 1 : 0;
        if (alone.ok() && alone->outcome == Outcome::kFound && (!best || alone->cost < best->cost)) {
          best = *alone;
          best->goal_index = goal;
          best_nodes.assign(alone->nodes.begin(), alone->nodes.end());
        }
      }
      query.goals.assign(goals.begin(), goals.end());
      const absl::StatusOr<GraphPathResult> result = FindGraphPath(graph, query, {}, scratch);
      const std::string where = absl::StrCat("seed ", seed, ", query ", i);
      if (is_start_blocked || blocked == goals.size()) {
        ASSERT_EQ(Told(result.status()), is_start_blocked ? "START_BLOCKED start" : "GOAL_BLOCKED goals")
            << where;
        continue;
      }
      ASSERT_EQ(result.status(), absl::OkStatus()) << where;
      ASSERT_EQ(result->outcome == Outcome::kFound, best.has_value()) << where;
      if (best) {
        ASSERT_EQ(result->goal_index, best->goal_index) << where;
        ASSERT_EQ(result->cost, best->cost) << where;
        ASSERT_THAT(result->nodes, ::testing::ElementsAreArray(best_nodes)) << where;
        ASSERT_LE(result->statistics.expanded, graph.node_count() + best->statistics.expanded) << where;
        ++found;
        direct += best_nodes.empty() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, static_cast<int>(Rounds(400)));
  EXPECT_GT(direct, static_cast<int>(Rounds(20)));
}

}  // namespace
}  // namespace waystar::core
