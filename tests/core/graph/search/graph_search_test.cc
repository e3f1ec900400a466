#include "server/core/graph/search/graph_search.h"

#include <atomic>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/graph/map/graph_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/graph_model.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::GraphGenerator;
using ::waystar::testing::GraphModel;

constexpr std::size_t kRoom = std::size_t{64} << 20;

WaypointGraph MakeGraph(const WaypointSpec& spec) {
  absl::StatusOr<WaypointGraph> graph = WaypointGraph::Create(spec);
  EXPECT_EQ(graph.status(), absl::OkStatus());
  return *std::move(graph);
}

std::vector<std::string> IdsOf(const WaypointGraph& graph, absl::Span<const NodeNumber> nodes) {
  std::vector<std::string> ids;
  for (const NodeNumber node : nodes) {
    ids.push_back(graph.IdOf(node));
  }
  return ids;
}

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
    const absl::Status status = FindGraphPath(graph, query, budget, scratch_).status();
    return absl::StrCat(ErrorReasonOf(status), " ", ErrorFieldOf(status));
  }

  GraphScratch scratch_{kRoom};
};

TEST_F(GraphSearchTest, TakesTheCheapestWay) {
  const WaypointGraph graph = MakeGraph(Diamond());
  const GraphPathResult result = Find(graph, {.start = "a", .goals = {"d"}});
  EXPECT_EQ(result.outcome, Outcome::kFound);
  EXPECT_EQ(result.cost, 2.0);
  EXPECT_THAT(IdsOf(graph, result.nodes), ElementsAre("a", "b", "d"));
}

TEST_F(GraphSearchTest, UsesEdgesThatCarryAllTags) {
  const WaypointGraph graph = MakeGraph(Diamond());
  const auto path = [&](std::vector<std::string> tags) {
    return IdsOf(graph, Find(graph, {.start = "a", .goals = {"d"}, .required_tags = std::move(tags)}).nodes);
  };
  EXPECT_THAT(path({"wide"}), ElementsAre("a", "c", "d"));
  EXPECT_THAT(path({"dry"}), ElementsAre("a", "b", "d"));
  EXPECT_THAT(path({"dry", "wide"}), IsEmpty());
  EXPECT_THAT(path({"unheard-of"}), IsEmpty());
  EXPECT_THAT(
      IdsOf(graph, Find(graph, {.start = "a", .goals = {"a"}, .required_tags = {"unheard-of"}}).nodes),
      ElementsAre("a"));
}

TEST_F(GraphSearchTest, EqualWaysAreChosenByNumber) {
  const WaypointGraph graph = MakeGraph(
      {.nodes = {{"a", {0, 0}}, {"z", {1, 1}}, {"m", {1, -1}}, {"d", {2, 0}}},
       .edges = {{.name = {"a", "m"}}, {.name = {"a", "z"}}, {.name = {"m", "d"}}, {.name = {"z", "d"}}}});
  for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
    const GraphPathResult result = Find(graph, {.start = "a", .goals = {"d"}, .algorithm = algorithm});
    EXPECT_THAT(IdsOf(graph, result.nodes), ElementsAre("a", "m", "d"));
  }
}

// The page of the only node has no arcs, and neither has that of the only node that a way leads to.
TEST_F(GraphSearchTest, FindsANodeWhosePageHasNoArcs) {
  GraphEditor editor(MakeGraph({.nodes = {{"n0", {}}}}));
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
  const WaypointGraph graph = MakeGraph(spec);
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
    return GraphEditor(MakeGraph(spec));
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

TEST_F(GraphSearchTest, AgreesWithTheModel) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    GraphGenerator generator(seed, 10);
    GraphModel model;
    WaypointSpec spec;
    if (seed % 2 == 0) {
      model.max_distance = 4.0;
      spec.auto_connect = AutoConnect{.max_distance = 4.0};
    }
    GraphEditor editor(MakeGraph(spec));
    for (int i = 0; i < 40; ++i) {
      ASSERT_NO_FATAL_FAILURE(generator.Edit(model, editor));
    }
    for (int i = 0; i < 12; ++i) {
      const auto any = [&] {
        return std::next(model.nodes.begin(),
                         generator.random().Between(0, static_cast<int>(model.nodes.size()) - 1))
            ->first;
      };
      const std::string start = any();
      const std::string goal = any();
      if (!model.nodes[start].enabled || !model.nodes[goal].enabled) {
        continue;
      }
      const std::vector<std::string> tags =
          i % 3 == 0 ? std::vector<std::string>{"wide"} : std::vector<std::string>();
      const std::optional<Cost> expected = model.CheapestCost(start, goal, {tags.begin(), tags.end()});
      for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
        const GraphPathResult result = Find(
            editor.graph(), {.start = start, .goals = {goal}, .algorithm = algorithm, .required_tags = tags});
        ASSERT_EQ(result.outcome == Outcome::kFound, expected.has_value())
            << seed << " " << start << ">" << goal;
        if (expected) {
          ASSERT_EQ(CostFromDouble(result.cost), *expected) << seed << " " << start << ">" << goal;
          ASSERT_EQ(FaultOf(editor.graph(), result, start, goal), "");
          ++found;
        }
      }
    }
  }
  EXPECT_GT(found, 200);
}

// Turned, mirrored and shifted graphs have the same costs.
TEST_F(GraphSearchTest, TurnedAndMirroredGraphsAnswerAlike) {
  GraphGenerator generator(5, 20);
  WaypointSpec spec{.auto_connect = AutoConnect{.max_distance = 5}};
  for (int i = 0; i < 60; ++i) {
    spec.nodes.push_back({absl::StrCat("n", i), generator.Position()});
  }
  spec.obstacles = {
      {.id = "o", .shape = {.discs = {{{7, 9}, 3}}, .polygons = {{{{1, 2}, {14, 3}, {2, 5}}}}}}};
  const auto moved = [&](auto move) {
    WaypointSpec other = spec;
    for (WaypointNode& node : other.nodes) {
      const Point at = move(Point{node.position.x, node.position.y});
      node.position = {at.x, at.y, node.position.z};
    }
    Shape& shape = other.obstacles[0].shape;
    shape.discs[0].center = move(shape.discs[0].center);
    for (Point& vertex : shape.polygons[0].vertices) {
      vertex = move(vertex);
    }
    return MakeGraph(other);
  };
  const WaypointGraph plain = MakeGraph(spec);
  const WaypointGraph mirrored = moved([](Point p) { return Point{-p.x, p.y}; });
  const WaypointGraph turned = moved([](Point p) { return Point{-p.y, p.x}; });
  const WaypointGraph shifted = moved([](Point p) { return Point{p.x - 512, p.y + 256}; });
  for (int i = 0; i < 60; ++i) {
    const GraphQuery query{.start = absl::StrCat("n", i), .goals = {absl::StrCat("n", (i * 7 + 3) % 60)}};
    const GraphPathResult first = Find(plain, query);
    for (const WaypointGraph* other : {&mirrored, &turned, &shifted}) {
      const GraphPathResult result = Find(*other, query);
      ASSERT_EQ(result.outcome, first.outcome);
      ASSERT_EQ(result.cost, first.cost);
    }
  }
}

TEST_F(GraphSearchTest, PositionsSnapToTheNearestVisibleNode) {
  // A wall keeps the start from b, which is nearer.
  WaypointSpec spec{.nodes = {{"a", {0, 0}}, {"b", {4, 0}}, {"c", {10, 0}}},
                    .edges = {{.name = {"a", "b"}}, {.name = {"b", "c"}}}};
  spec.obstacles = {{.id = "wall", .shape = {.lines = {{{3, 0.5}, {5, 0.5}}}}}};
  const WaypointGraph graph = MakeGraph(spec);
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
  const WaypointGraph graph = MakeGraph(spec);
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
      MakeGraph({.nodes = {{"a", {0, 0}}, {"b", {2, 0}}, {"c", {5, 0}}, {"far", {6, 0}}},
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
  GraphEditor editor(MakeGraph(Diamond()));
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
  const WaypointGraph graph = MakeGraph(Diamond());
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
      FindGraphPath(MakeGraph(Diamond()), {.start = "a", .goals = {"d"}}, {}, small);
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
  const WaypointGraph graph = MakeGraph(spec);
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

}  // namespace
}  // namespace waystar::core
