#include "server/core/graph/search/graph_search.h"

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_path_check.h"
#include "tests/core/graph/search/random_graphs.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What is wrong with a path from node to node; empty if nothing is.
std::string FaultOf(const WaypointGraph& graph, const GraphPathResult& result, const std::string& start,
                    const std::string& goal) {
  if (result.nodes.empty() || graph.IdOf(result.nodes.front()) != start ||
      graph.IdOf(result.nodes.back()) != goal) {
    return "wrong ends";
  }
  Cost cost = 0;
  for (std::size_t i = 1; i < result.nodes.size(); ++i) {
    const Arc* arc = graph.FindArc(result.nodes[i - 1], result.nodes[i]);
    if (arc == nullptr || !arc->is_open() || !graph.IsEnabled(result.nodes[i])) {
      return absl::StrCat("no way to point ", i);
    }
    cost += arc->cost;
  }
  return CostFromDouble(result.cost) == cost ? "" : "wrong cost";
}

//   b
//  / \      Over c is shorter, over b cheaper.
// a   d
//  \ /
//   c
WaypointSpec Diamond() {
  return {.nodes = {{"a", {0, 2}}, {"b", {2, 0}}, {"c", {2, 3}}, {"d", {4, 2}}},
          .edges = {{.name = {"a", "b"}, .cost = 1, .tags = {"dry"}},
                    {.name = {"b", "d"}, .cost = 1, .tags = {"dry", "wide"}},
                    {.name = {"a", "c"}, .tags = {"wide"}},
                    {.name = {"c", "d"}, .tags = {"wide"}}}};
}

class GraphSearchTest : public ::testing::Test {
 protected:
  GraphPathResult Find(const WaypointGraph& graph, const GraphQuery& query, const Budget& budget = {}) {
    absl::StatusOr<GraphPathResult> result = FindGraphPath(graph, query, budget, scratch_);
    EXPECT_EQ(result.status(), absl::OkStatus());
    return result.ok() ? *result : GraphPathResult();
  }
  std::string ErrorOf(const WaypointGraph& graph, const GraphQuery& query, const Budget& budget = {}) {
    return Told(FindGraphPath(graph, query, budget, scratch_).status());
  }

  GraphScratch scratch_{kSampleRoom};
};

TEST_F(GraphSearchTest, EqualWaysAreChosenByNumber) {
  const WaypointGraph graph = GraphOf(
      {.nodes = {{"a", {0, 0}}, {"z", {1, 1}}, {"m", {1, -1}}, {"d", {2, 0}}},
       .edges = {{.name = {"a", "m"}}, {.name = {"a", "z"}}, {.name = {"m", "d"}}, {.name = {"z", "d"}}}});
  for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
    const GraphPathResult result = Find(graph, {.start = "a", .goals = {"d"}, .algorithm = algorithm});
    EXPECT_THAT(IdsOf(graph, result.nodes), ElementsAre("a", "m", "d"));
  }
}

// The page of the only node has no arcs, and neither has that of the only node that a way leads to.
TEST_F(GraphSearchTest, FindsANodeWhosePageHasNoArcs) {
  GraphEditor editor(GraphOf({.nodes = {{"n0", {}}}}));
  EXPECT_THAT(IdsOf(editor.graph(), Find(editor.graph(), {.start = "n0", .goals = {"n0"}}).nodes),
              ElementsAre("n0"));
  for (std::size_t i = 1; i <= kPageNodes; ++i) {
    ASSERT_EQ(editor.PutNodes({{absl::StrCat("n", i), {}}}, false), absl::OkStatus());
  }
  const std::string last = absl::StrCat("n", kPageNodes);
  ASSERT_EQ(editor.PutEdges({{.name = {"n0", last, true}, .cost = 1}}, false), absl::OkStatus());
  EXPECT_THAT(IdsOf(editor.graph(), Find(editor.graph(), {.start = "n0", .goals = {last}}).nodes),
              ElementsAre("n0", last));
}

TEST_F(GraphSearchTest, TheHeuristicSavesExpansions) {
  WaypointSpec spec;
  for (int i = 0; i < 900; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), {i % 30 * 1.0, i / 30 * 1.0}});
  }
  spec.auto_connect = AutoConnect{.max_distance = 1.5};
  const WaypointGraph graph = GraphOf(spec);
  const GraphPathResult guided = Find(graph, {.start = "n0", .goals = {"n29"}});
  const std::uint64_t expanded = guided.statistics.expanded;
  EXPECT_EQ(guided.statistics.algorithm, Algorithm::kAStar);
  const double cost = guided.cost;
  const GraphPathResult blind =
      Find(graph, {.start = "n0", .goals = {"n29"}, .algorithm = Algorithm::kDijkstra});
  EXPECT_EQ(blind.cost, cost);
  EXPECT_EQ(blind.statistics.algorithm, Algorithm::kDijkstra);
  EXPECT_GT(blind.statistics.expanded, 5 * expanded);
}

// A field of nodes with one edge more, whose cost is far below its length.
class CheapEdgeTest : public GraphSearchTest {
 protected:
  static constexpr int kSide = 60;

  static std::string At(int x, int y) { return absl::StrCat("n", y * kSide + x); }

  static GraphEditor Field() {
    WaypointSpec spec;
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        spec.nodes.push_back({At(x, y), {x * 1.0, y * 1.0}});
      }
    }
    spec.auto_connect = AutoConnect{.max_distance = 1.5};
    return GraphEditor(GraphOf(spec));
  }

  struct Answer {
    double cost = 0.0;
    std::uint64_t expanded = 0;
  };
  Answer Ask(const WaypointGraph& graph, Algorithm algorithm = Algorithm::kAStar) {
    const GraphPathResult result =
        Find(graph, {.start = At(5, 30), .goals = {At(55, 33)}, .algorithm = algorithm});
    return {result.cost, result.statistics.expanded};
  }
};

TEST_F(CheapEdgeTest, MakesNoSearchWide) {
  GraphEditor editor = Field();
  const std::uint64_t plain = Ask(editor.graph()).expanded;
  for (const double cost : {0.0, 0.1}) {
    for (const bool enabled : {true, false}) {
      ASSERT_EQ(editor.PutEdges({{.name = {At(10, 2), At(14, 2)}, .cost = cost, .enabled = enabled}}, true),
                absl::OkStatus());
      EXPECT_LE(Ask(editor.graph()).expanded, plain + plain / 2) << cost << " " << enabled;
    }
  }
}

TEST_F(CheapEdgeTest, MakesNoSearchWideFromAPageOfItsOwn) {
  GraphEditor editor = Field();
  const std::uint64_t plain = Ask(editor.graph()).expanded;
  // Fills the last page.
  std::vector<WaypointNode> rest;
  for (std::size_t i = kSide * kSide % kPageNodes; i < kPageNodes; ++i) {
    rest.push_back({absl::StrCat("rest", i), {200.0, static_cast<double>(10 * i)}});
  }
  ASSERT_EQ(editor.PutNodes(rest, false), absl::OkStatus());
  ASSERT_EQ(editor.PutNodes({{"x", {100, 2}}, {"y", {100, 12}}}, false), absl::OkStatus());
  ASSERT_EQ(editor.PutEdges({{.name = {"x", "y"}, .cost = 0.1}}, false), absl::OkStatus());
  EXPECT_LE(Ask(editor.graph()).expanded, plain + plain / 2);
}

TEST_F(CheapEdgeTest, IsTakenWhereItHelps) {
  for (int y = 0; y < kSide; y += 7) {
    GraphEditor editor = Field();
    for (int x = 8; x < 40; x += 8) {
      ASSERT_EQ(editor.PutEdges({{.name = {At(x, y), At(x + 7, y)}, .cost = 0.5 * x}}, true),
                absl::OkStatus());
    }
    const Answer guided = Ask(editor.graph());
    const Answer blind = Ask(editor.graph(), Algorithm::kDijkstra);
    EXPECT_EQ(guided.cost, blind.cost) << y;
    EXPECT_LT(guided.expanded, blind.expanded / 2) << y;
  }
}

TEST_F(GraphSearchTest, AgreesWithTheLongWay) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    auto [generator, model, graph] = EditedGraph(seed);
    for (int i = 0; i < 12; ++i) {
      const auto any = [&, &model = model, &random = generator.random()] {
        return std::next(model.nodes.begin(), random.Between(0, static_cast<int>(model.nodes.size()) - 1))
            ->first;
      };
      const std::string start = any();
      const std::string goal = any();
      if (!model.nodes[start].enabled || !model.nodes[goal].enabled) {
        continue;
      }
      SCOPED_TRACE(absl::StrCat("seed ", seed, ": ", start, ">", goal));
      const std::vector<std::string> tags = SampleTags(generator.random());
      const std::map<NodeNumber, Cost> costs =
          NaiveCosts(graph, {{graph.FindNode(start), 0}}, GraphSense::kFromSeeds, tags);
      const auto expected = costs.find(graph.FindNode(goal));
      for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
        const GraphPathResult result =
            Find(graph, {.start = start, .goals = {goal}, .algorithm = algorithm, .required_tags = tags});
        ASSERT_EQ(result.outcome == Outcome::kFound, expected != costs.end());
        if (expected != costs.end()) {
          ASSERT_EQ(CostFromDouble(result.cost), expected->second);
          ASSERT_EQ(FaultOf(graph, result, start, goal), "");
          ++found;
        }
      }
    }
  }
  EXPECT_GT(found, 200);
}

TEST_F(GraphSearchTest, PositionsSnapToTheNearestVisibleNode) {
  // A wall keeps the start from b, which is nearer.
  WaypointSpec spec{.nodes = {{"a", {0, 0}}, {"b", {4, 0}}, {"c", {10, 0}}},
                    .edges = {{.name = {"a", "b"}}, {.name = {"b", "c"}}}};
  spec.obstacles = {{.id = "wall", .shape = {.lines = {{{3, 0.5}, {5, 0.5}}}}}};
  const WaypointGraph graph = GraphOf(spec);
  const GraphPathResult result =
      Find(graph, {.start = WorldPoint{4, 3}, .goals = {WorldPoint{10, 1}}, .snap_radius = 100});
  EXPECT_THAT(IdsOf(graph, result.nodes), ElementsAre("a", "b", "c"));
  EXPECT_EQ(result.cost, 5.0 + 10.0 + 1.0);
  EXPECT_EQ(ErrorOf(graph, {.start = WorldPoint{4, 3}, .goals = {"c"}, .snap_radius = 4}),
            "NO_NODE_NEAR start");
  EXPECT_EQ(ErrorOf(graph, {.start = "c", .goals = {WorldPoint{4, 3}}, .snap_radius = 4}),
            "NO_NODE_NEAR goals[0]");
}

TEST_F(GraphSearchTest, PositionsThatSeeEachOtherNeedNoNode) {
  WaypointSpec spec{.nodes = {{"a", {0, 0}}, {"b", {0, 6}}}, .auto_connect = AutoConnect{10}};
  spec.obstacles = {{.id = "wall", .shape = {.rectangles = {{2, 0, 1, 5}}}}};
  const WaypointGraph graph = GraphOf(spec);
  const GraphPathResult direct = Find(graph, {.start = WorldPoint{4, 0}, .goals = {WorldPoint{4, 3}}});
  EXPECT_EQ(direct.outcome, Outcome::kFound);
  EXPECT_THAT(direct.nodes, IsEmpty());
  EXPECT_TRUE(direct.reaches_goal);
  EXPECT_EQ(direct.cost, 3.0);
  const GraphPathResult around =
      Find(graph, {.start = WorldPoint{1, 0}, .goals = {WorldPoint{4, 6}}, .snap_radius = 100});
  EXPECT_THAT(IdsOf(graph, around.nodes), ElementsAre("a", "b"));
  EXPECT_EQ(around.cost, 1.0 + 6.0 + 4.0);
}

TEST_F(GraphSearchTest, GoalsOutOfReachAreAnswers) {
  const WaypointGraph graph =
      GraphOf({.nodes = {{"a", {0, 0}}, {"b", {2, 0}}, {"c", {5, 0}}, {"far", {6, 0}}},
               .edges = {{.name = {"a", "b"}}, {.name = {"b", "c", true}}}});
  GraphPathResult result = Find(graph, {.start = "a", .goals = {"far"}});
  EXPECT_EQ(result.outcome, Outcome::kUnreachable);
  EXPECT_EQ(result.reason, OutcomeReason::kNoRoute);
  result = Find(
      graph, {.start = "a", .goals = {"far"}, .unreachable_policy = UnreachablePolicy::kNearestByDistance});
  EXPECT_EQ(result.outcome, Outcome::kPartial);
  EXPECT_FALSE(result.reaches_goal);
  EXPECT_THAT(IdsOf(graph, result.nodes), ElementsAre("a", "b", "c"));
  EXPECT_EQ(result.cost, 5.0);
  result = Find(graph, {.start = "a", .goals = {"c"}}, {.max_expansions = 1});
  EXPECT_EQ(result.outcome, Outcome::kBudgetExhausted);
  EXPECT_THAT(IdsOf(graph, result.nodes), ElementsAre("a"));
}

TEST_F(GraphSearchTest, NodesThatAreNotEnabledAreNotPassed) {
  GraphEditor editor(GraphOf(Diamond()));
  ASSERT_EQ(editor.SetNodesEnabled({"b"}, false), absl::OkStatus());
  EXPECT_THAT(IdsOf(editor.graph(), Find(editor.graph(), {.start = "a", .goals = {"d"}}).nodes),
              ElementsAre("a", "c", "d"));
  EXPECT_EQ(ErrorOf(editor.graph(), {.start = "b", .goals = {"d"}}), "START_BLOCKED start");
  EXPECT_EQ(ErrorOf(editor.graph(), {.start = "d", .goals = {"b"}}), "GOAL_BLOCKED goals[0]");
  const GraphPathResult result =
      Find(editor.graph(),
           {.start = "d", .goals = {"b"}, .unreachable_policy = UnreachablePolicy::kNearestByDistance});
  EXPECT_EQ(result.reason, OutcomeReason::kGoalBlocked);
  EXPECT_EQ(result.outcome, Outcome::kPartial);
}

TEST_F(GraphSearchTest, RefusesWhatMakesNoSense) {
  const WaypointGraph graph = GraphOf(Diamond());
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ErrorOf(graph, {.start = "nowhere", .goals = {"d"}}), "NODE_NOT_FOUND start.node");
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {"no way"}}), "BAD_NODE_ID goals[0].node");
  EXPECT_EQ(ErrorOf(graph, {.start = WorldPoint{kNan, 0}, .goals = {"d"}}), "BAD_VALUE start.position.x");
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {WorldPoint{0, 0, 1e300}}}),
            "BAD_VALUE goals[0].position.z");
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {"d"}, .required_tags = {""}}),
            "BAD_PROFILE agent.profile.required_tags[0]");
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {"d"}, .required_tags = {"dry", "dry"}}),
            "BAD_PROFILE agent.profile.required_tags[1]");
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {"d"}, .algorithm = Algorithm::kJumpPoint}),
            "ALGORITHM_UNSUITED algorithm");
  std::atomic<bool> yes = true;
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {"d"}}, {.cancelled = &yes}), "CANCELLED ");
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {"d"}}, {.evicted = &yes}), "SNAPSHOT_EVICTED ");
  EXPECT_EQ(ErrorOf(graph, {.start = "a", .goals = {"d"}}, {.deadline = {}}), "DEADLINE_EXCEEDED ");
}

TEST_F(GraphSearchTest, StaysBelowItsMemoryLimit) {
  GraphScratch small(16);
  const absl::StatusOr<GraphPathResult> result =
      FindGraphPath(GraphOf(Diamond()), {.start = "a", .goals = {"d"}}, {}, small);
  ASSERT_EQ(result.status(), absl::OkStatus());
  EXPECT_EQ(result->outcome, Outcome::kBudgetExhausted);
  EXPECT_EQ(result->reason, OutcomeReason::kScratchLimit);
}

// A hub with many spokes, which take room on the open list, and a goal behind one of them.
TEST_F(GraphSearchTest, AnswersTheStartAloneWhenTheOpenListIsFull) {
  WaypointSpec spec{.nodes = {{"z-start", {0, 0}}, {"goal", {900, 900}}}};
  for (int i = 0; i < 400; ++i) {
    const std::string id = absl::StrCat("spoke", i);
    spec.nodes.push_back({id, {static_cast<double>(i), 1}});
    spec.edges.push_back({.name = {"z-start", id}});
  }
  spec.edges.push_back({.name = {"spoke7", "goal"}, .cost = 5000});
  const WaypointGraph graph = GraphOf(spec);
  int full = 0;
  int found = 0;
  for (std::size_t bytes = 256; bytes <= std::size_t{1} << 16; bytes += 256) {
    GraphScratch scratch(bytes);
    const absl::StatusOr<GraphPathResult> result =
        FindGraphPath(graph, {.start = "z-start", .goals = {"goal"}}, {}, scratch);
    ASSERT_EQ(result.status(), absl::OkStatus());
    if (result->outcome == Outcome::kFound) {
      ++found;
      continue;
    }
    EXPECT_EQ(result->reason, OutcomeReason::kScratchLimit);
    if (result->statistics.expanded > 0) {
      ++full;
      ASSERT_EQ(result->nodes.size(), 1U);
      EXPECT_EQ(graph.IdOf(result->nodes.front()), "z-start");
      EXPECT_EQ(result->cost, 0.0);
    }
  }
  EXPECT_GT(full, 0);
  EXPECT_GT(found, 0);
}

// a - b - c - d - e, a unit apart, and x off by itself.
WaypointSpec RowOfFive() {
  return {.nodes = {{"a", {0, 0}}, {"b", {1, 0}}, {"c", {2, 0}}, {"d", {3, 0}}, {"e", {4, 0}}, {"x", {9, 9}}},
          .edges = {{.name = {"a", "b"}}, {.name = {"b", "c"}}, {.name = {"c", "d"}}, {.name = {"d", "e"}}}};
}

// Paths to the nearest of several goals.
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
    std::vector<std::string> words = IdsOf(editor_.graph(), result->nodes);
    words.insert(words.begin(), absl::StrCat("goal ", result->goal_index, ":"));
    return absl::StrJoin(words, " ");
  }

  GraphEditor editor_{GraphOf(RowOfFive())};
  GraphScratch scratch_{kSampleRoom};
  GraphPathResult result_;
};

TEST_F(SeveralGraphGoalsTest, DirectLinesCount) {
  ASSERT_EQ(editor_.SetAutoConnect({.max_distance = 0.5}), absl::OkStatus());
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

TEST(GraphToleranceTest, PathsCostAtMostThatMuchMore) {
  GraphScratch scratch(kSampleRoom);
  std::map<double, std::uint64_t> expanded;
  ForSeeds(150, [&](Random& random) {
    const WaypointGraph graph = SampleGraph(random);
    for (int i = 0; i < 12; ++i) {
      const std::vector<GraphPlace> goals = SamplePlaces(graph, random, random.Between(1, 3));
      GraphQuery query{.start = SamplePlace(graph, random),
                       .goals = {goals.begin(), goals.end()},
                       .snap_radius = kSampleSnap,
                       .algorithm = i % 4 == 0 ? Algorithm::kDijkstra : Algorithm::kAuto,
                       .required_tags = SampleTags(random)};
      const absl::StatusOr<GraphPathResult> exact = FindGraphPath(graph, query, {}, scratch);
      for (const double tolerance : {0.0, 1e-9, 0.1, 0.5, 10.0}) {
        SCOPED_TRACE(absl::StrCat("query ", i, ", tolerance ", tolerance));
        query.tolerance = tolerance;
        const absl::StatusOr<GraphPathResult> found = FindGraphPath(graph, query, {}, scratch);
        ASSERT_EQ(found.status(), exact.status());
        if (!found.ok() || found->outcome != Outcome::kFound) {
          continue;
        }
        expanded[tolerance] += found->statistics.expanded;
        ASSERT_LE(found->cost, exact->cost * (1.0 + tolerance) + 1e-7);
        ASSERT_GE(found->bound, 1.0);
        ASSERT_LE(found->bound, query.algorithm == Algorithm::kDijkstra ? 1.0 : 1.0 + tolerance);
        ASSERT_GE(exact->cost * found->bound, found->cost - 1e-7);
      }
    }
  });
  EXPECT_LT(expanded[0.5], expanded[0.0]);
}

TEST(SeveralGraphGoalsByChanceTest, AgreeWithSearchesForEachGoalAlone) {
  GraphScratch scratch(kSampleRoom);
  int found = 0;
  int direct = 0;
  ForSeeds(150, [&](Random& random) {
    const WaypointGraph graph = SampleGraph(random);
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
      SCOPED_TRACE(absl::StrCat("query ", i));
      if (is_start_blocked || blocked == goals.size()) {
        ASSERT_EQ(Told(result.status()), is_start_blocked ? "START_BLOCKED start" : "GOAL_BLOCKED goals");
        continue;
      }
      ASSERT_EQ(result.status(), absl::OkStatus());
      ASSERT_EQ(result->outcome == Outcome::kFound, best.has_value());
      if (best) {
        ASSERT_EQ(result->goal_index, best->goal_index);
        ASSERT_EQ(result->cost, best->cost);
        ASSERT_THAT(result->nodes, ::testing::ElementsAreArray(best_nodes));
        ASSERT_LE(result->statistics.expanded, graph.node_count() + best->statistics.expanded);
        ++found;
        direct += best_nodes.empty() ? 1 : 0;
      }
    }
  });
  EXPECT_GT(found, static_cast<int>(Rounds(400)));
  EXPECT_GT(direct, static_cast<int>(Rounds(20)));
}

using IdList = std::vector<std::string>;

// a - b - c - d, ten units from each to the next; from b to c one way, and what is dry ends at c.
WaypointSpec Street() {
  return {.nodes = {{"a", {0, 0}}, {"b", {10, 0}}, {"c", {20, 0}}, {"d", {30, 0}}},
          .edges = {{.name = {"a", "b"}, .tags = {"dry"}},
                    {.name = {"b", "c", true}, .cost = 3, .tags = {"dry"}},
                    {.name = {"c", "d"}}}};
}

class GraphPathCheckTest : public ::testing::Test {
 protected:
  explicit GraphPathCheckTest(const WaypointSpec& spec = Street()) : editor_(*WaypointGraph::Create(spec)) {}

  void PutObstacle(const std::string& id, Shape shape) {
    const auto obstacle = std::make_shared<Obstacle>(Obstacle{.id = id, .shape = std::move(shape)});
    ASSERT_EQ(editor_.PutObstacle(obstacle, false), absl::OkStatus());
  }

  // The check as text: "7.5", or "3 at 2: c, wall".
  std::string Check(const IdList& nodes, GraphPathToCheck path = {}) {
    path.nodes = nodes;
    const absl::StatusOr<GraphPathCheck> check = ValidateGraphPath(editor_.graph(), path);
    if (!check.ok()) {
      return Told(check.status());
    }
    return check->is_walkable ? absl::StrCat(check->cost)
                              : absl::StrCat(check->cost, " at ", check->blocked_index, ": ",
                                             check->blocked_node, ", ", check->obstacle);
  }

  GraphEditor editor_;
};

TEST_F(GraphPathCheckTest, CountsWhatCanBeWalked) {
  EXPECT_EQ(Check({"a", "b", "c", "d"}), "23");
  EXPECT_EQ(Check({"a"}), "0");
  EXPECT_EQ(Check({"b", "c"}, {.start = WorldPoint{10, 4}, .goal = WorldPoint{20, 0, 2}}), "9");
  EXPECT_EQ(Check({}, {.start = WorldPoint{0, 4}, .goal = WorldPoint{3, 8}}), "5");
  EXPECT_EQ(Check({"a", "b", "c"}, {.required_tags = {"dry"}}), "13");
}

TEST_F(GraphPathCheckTest, SaysWhereItIsBlocked) {
  EXPECT_EQ(Check({"c", "b"}), "0 at 1: b, ");
  EXPECT_EQ(Check({"a", "b", "d"}), "10 at 2: d, ");
  EXPECT_EQ(Check({"a", "b", "b"}), "10 at 2: b, ");
  EXPECT_EQ(Check({"a", "b", "gone", "d"}), "10 at 2: gone, ");
  EXPECT_EQ(Check({"gone"}, {.start = WorldPoint{0, 0}}), "0 at 0: gone, ");
  EXPECT_EQ(Check({"a", "b", "c", "d"}, {.required_tags = {"dry"}}), "13 at 3: d, ");
  EXPECT_EQ(Check({"a", "b"}, {.required_tags = {"unheard-of"}}), "0 at 1: b, ");
  ASSERT_EQ(editor_.SetNodesEnabled({"c"}, false), absl::OkStatus());
  EXPECT_EQ(Check({"a", "b", "c", "d"}), "10 at 2: c, ");
  EXPECT_EQ(Check({"c"}), "0 at 0: c, ");
  ASSERT_EQ(editor_.SetEdgesEnabled({{"a", "b"}}, false), absl::OkStatus());
  EXPECT_EQ(Check({"a", "b"}), "0 at 1: b, ");
}

TEST_F(GraphPathCheckTest, NamesTheObstacleInTheWay) {
  PutObstacle("far", {.discs = {{{26, 0}, 1}}});
  PutObstacle("near", {.discs = {{{24, 0}, 1}}});
  EXPECT_EQ(Check({"a", "b", "c", "d"}), "13 at 3: d, near");
  EXPECT_EQ(Check({"d", "c"}), "0 at 1: c, far");
  EXPECT_EQ(Check({"c"}, {.goal = WorldPoint{30, 0}}), "0 at 1: , near");
  EXPECT_EQ(Check({"d"}, {.start = WorldPoint{20, 0}}), "0 at 0: d, near");
  EXPECT_EQ(Check({}, {.start = WorldPoint{30, 0}, .goal = WorldPoint{20, 0}}), "0 at 0: , far");
  EXPECT_EQ(Check({"c"}, {.start = WorldPoint{20, 4}, .goal = WorldPoint{26, 0.5}}), "4 at 1: , near");
}

TEST_F(GraphPathCheckTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Check({"a", "b", "c", "no way"}), "BAD_NODE_ID nodes[3]");
  EXPECT_EQ(Check({"gone", "b", "", "d"}), "BAD_NODE_ID nodes[2]");
  EXPECT_EQ(Check({}), "MISSING_FIELD nodes");
  EXPECT_EQ(Check({}, {.start = WorldPoint{0, 0}}), "MISSING_FIELD nodes");
  EXPECT_EQ(Check({"a"}, {.start = WorldPoint{0, 1e300}}), "BAD_VALUE start.position.y");
  EXPECT_EQ(Check({"a"}, {.goal = WorldPoint{0, 0, 1e300}}), "BAD_VALUE goal.position.z");
  EXPECT_EQ(Check({"a"}, {.required_tags = {"x", "x"}}), "BAD_PROFILE agent.profile.required_tags[1]");
  std::atomic<bool> yes = true;
  const IdList nodes{"a"};
  EXPECT_EQ(ErrorReasonOf(ValidateGraphPath(editor_.graph(), {.nodes = nodes}, {.cancelled = &yes}).status()),
            "CANCELLED");
}

class GraphPathCheckBySightTest : public GraphPathCheckTest {
 protected:
  GraphPathCheckBySightTest()
      : GraphPathCheckTest({.nodes = {{"a", {0, 0}}, {"b", {9, 0}}, {"c", {30, 0}}},
                            .auto_connect = AutoConnect{.max_distance = 10}}) {}
};

TEST_F(GraphPathCheckBySightTest, NamesTheObstacleThatTookAnEdgeAway) {
  EXPECT_EQ(Check({"a", "b"}), "9");
  PutObstacle("wall", {.lines = {{{5, -1}, {5, 1}}}});
  PutObstacle("far", {.lines = {{{15, -1}, {15, 1}}}});
  EXPECT_EQ(Check({"a", "b"}), "0 at 1: b, wall");
  // They would not be joined without it either.
  EXPECT_EQ(Check({"b", "c"}), "0 at 1: c, ");
}

TEST(GraphPathCheckOfAnswersTest, WhatWasFoundCanBeWalkedAtThatCost) {
  GraphScratch scratch(std::size_t{64} << 20);
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(40); ++seed) {
    auto [generator, model, graph] = EditedGraph(seed);
    for (int i = 0; i < 20; ++i) {
      const WorldPoint start = generator.Position();
      const WorldPoint goal = generator.Position();
      const IdList tags = i % 4 == 0 ? IdList{"wide"} : IdList{};
      const absl::StatusOr<GraphPathResult> found = FindGraphPath(
          graph, {.start = start, .goals = {goal}, .snap_radius = 5, .required_tags = tags}, {}, scratch);
      if (!found.ok() || found->outcome != Outcome::kFound) {
        continue;
      }
      const IdList nodes = IdsOf(graph, found->nodes);
      const absl::StatusOr<GraphPathCheck> check =
          ValidateGraphPath(graph, {.nodes = nodes, .start = start, .goal = goal, .required_tags = tags});
      ASSERT_EQ(check.status(), absl::OkStatus());
      ASSERT_TRUE(check->is_walkable) << seed << " " << i;
      ASSERT_EQ(check->cost, found->cost) << seed << " " << i;
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

}  // namespace
}  // namespace waystar::core
