// Floods of waypoint graphs, and the reachable nodes, flows, matrices and pairs that are made of them.
// Relaxing all arcs until nothing changes is the judge.

#include "server/core/graph/search/graph_flood.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_fields.h"
#include "server/core/graph/search/graph_pairs.h"
#include "server/core/graph/search/graph_search.h"
#include "tests/core/graph/search/random_graphs.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

//    b
//  2/ \1     d leads to e, and not back.
//  a   d > e
//  1\ /2
//    c
WaypointSpec Ring() {
  return {.nodes = {{"a", {0, 2}}, {"b", {2, 4}}, {"c", {2, 0}}, {"d", {4, 2}}, {"e", {7, 2}}},
          .edges = {{.name = {"a", "b"}, .cost = 2, .tags = {"wide"}},
                    {.name = {"b", "d"}, .cost = 1, .tags = {"wide"}},
                    {.name = {"a", "c"}, .cost = 1},
                    {.name = {"c", "d"}, .cost = 2},
                    {.name = {"d", "e", true}, .cost = 3, .tags = {"wide"}}}};
}

class GraphFieldTest : public ::testing::Test {
 protected:
  const WaypointGraph& graph() const { return editor_.graph(); }

  // "a 0, c 1, ...", in the order of visits, which end at `last`.
  std::string Flood(const GraphFloodTask& task, const std::string& last = "") {
    std::vector<std::string> visits;
    report_ = FloodGraph(graph(), task, {}, scratch_, [&](NodeNumber node, Cost cost) {
      visits.push_back(absl::StrCat(graph().IdOf(node), " ", CostToDouble(cost)));
      return graph().IdOf(node) != last;
    });
    return absl::StrJoin(visits, ", ");
  }

  NodeNumber Node(const std::string& id) const { return graph().FindNode(id); }

  // "a 0, b 2, ...", in the order of ids, or the error.
  std::string Reach(const ReachableNodesQuery& query, const Budget& budget = {}) {
    const absl::StatusOr<ReachableNodes> reachable = FindReachableNodes(graph(), query, budget, scratch_);
    if (!reachable.ok()) {
      return Told(reachable.status());
    }
    report_.expanded = reachable->expanded;
    std::map<std::string, double> costs;
    for (const ReachableNode& node : reachable->nodes) {
      costs[graph().IdOf(node.node)] = node.cost;
    }
    return absl::StrJoin(costs, ", ", absl::PairFormatter(" "));
  }

  // "a>c 3, d - 0, ...", in the order of ids, or the error.
  std::string Flow(const GraphFlowQuery& query, const Budget& budget = {}) {
    const absl::StatusOr<GraphFlow> flow = ComputeGraphFlow(graph(), query, budget, scratch_);
    if (!flow.ok()) {
      return Told(flow.status());
    }
    std::map<std::string, double> steps;
    for (const GraphFlowStep& step : flow->steps) {
      steps[absl::StrCat(graph().IdOf(step.node),
                         step.next == kNoNodeNumber ? " -" : absl::StrCat(">", graph().IdOf(step.next)))] =
          step.cost;
    }
    return absl::StrJoin(steps, ", ", absl::PairFormatter(" "));
  }

  GraphEditor editor_{*WaypointGraph::Create(Ring())};
  GraphScratch scratch_{kSampleRoom};
  GraphFloodReport report_;
};

TEST_F(GraphFieldTest, FloodsVisitByCost) {
  const GraphSeed a{Node("a"), 0};
  EXPECT_EQ(Flood({.seeds = {&a, 1}}), "a 0, c 1, b 2, d 3, e 6");
  EXPECT_EQ(report_.end, SearchEnd::kExhausted);
  EXPECT_EQ(report_.expanded, 5U);
  const GraphSeed e{Node("e"), 0};
  EXPECT_EQ(Flood({.seeds = {&e, 1}}), "e 0");
  EXPECT_EQ(Flood({.seeds = {&e, 1}, .sense = GraphSense::kToSeeds}), "e 0, d 3, b 4, c 5, a 6");
}

TEST_F(GraphFieldTest, FloodsBeginAtEachSeedWithItsCost) {
  const std::vector<GraphSeed> seeds = {{Node("b"), CostFromDouble(1.5)}, {Node("c"), 0}, {Node("b"), 0}};
  EXPECT_EQ(Flood({.seeds = absl::MakeSpan(seeds).first(2)}), "c 0, a 1, b 1.5, d 2, e 5");
  // The cheapest of a node counts.
  EXPECT_EQ(FindReached(scratch_, Node("d"))->parent, Node("c"));
  Flood({.seeds = seeds});
  EXPECT_EQ(FindReached(scratch_, Node("d"))->parent, Node("b"));
  EXPECT_EQ(FindReached(scratch_, Node("b"))->parent, Node("b"));
}

TEST_F(GraphFieldTest, FloodsVisitTheOnlyNode) {
  ASSERT_EQ(editor_.RemoveNodes({"b", "c", "d", "e"}), absl::OkStatus());
  const GraphSeed a{Node("a"), 0};
  EXPECT_EQ(Flood({.seeds = {&a, 1}}), "a 0");
}

TEST_F(GraphFieldTest, FloodsEndWhereTheVisitorSays) {
  const GraphSeed a{Node("a"), 0};
  EXPECT_EQ(Flood({.seeds = {&a, 1}}, "b"), "a 0, c 1, b 2");
  EXPECT_EQ(report_.end, SearchEnd::kGoalReached);
  EXPECT_EQ(report_.expanded, 2U);
}

TEST_F(GraphFieldTest, ANodeReachedAtEqualCostKeepsTheParentExpandedFirst) {
  const GraphSeed a{Node("a"), 0};
  Flood({.seeds = {&a, 1}});
  EXPECT_EQ(FindReached(scratch_, Node("d"))->parent, Node("c"));
  const GraphSeed d{Node("d"), 0};
  Flood({.seeds = {&d, 1}, .sense = GraphSense::kToSeeds});
  EXPECT_EQ(FindReached(scratch_, Node("a"))->parent, Node("b"));
  EXPECT_EQ(FindReached(scratch_, Node("e")), nullptr);
}

TEST_F(GraphFieldTest, WaysDoNotLeaveTheRegion) {
  EXPECT_EQ(Reach({.start = "a", .region = Box{0, 0, 2, 2}}), "a 0, c 1");
  EXPECT_EQ(Reach({.start = "a", .region = Box{}}), "BAD_VALUE start");
  EXPECT_EQ(Flow({.goals = {GraphPlace("d")}, .region = Box{1, 1, 9, 9}}), "b>d 1, d - 0");
  EXPECT_EQ(Flow({.goals = {GraphPlace("d"), GraphPlace("a")}, .region = Box{1, 1, 9, 9}}),
            "BAD_VALUE goals[1]");
}

TEST_F(GraphFieldTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Reach({.start = "nobody"}), "NODE_NOT_FOUND start.node");
  EXPECT_EQ(Reach({.start = WorldPoint{1, 1}}), "NO_NODE_NEAR start");
  EXPECT_EQ(Reach({.start = "a", .max_cost = -1}), "BAD_VALUE max_cost");
  EXPECT_EQ(Reach({.start = "a", .max_cost = std::numeric_limits<double>::quiet_NaN()}),
            "BAD_VALUE max_cost");
  EXPECT_EQ(Reach({.start = "a", .required_tags = {""}}), "BAD_PROFILE agent.profile.required_tags[0]");
  EXPECT_EQ(Flow({.goals = {GraphPlace("a"), GraphPlace("nobody")}}), "NODE_NOT_FOUND goals[1].node");
  EXPECT_EQ(Flow({.goals = {GraphPlace("a")}, .max_cost = -1}), "BAD_VALUE max_cost");
  EXPECT_EQ(Flow({.goals = {GraphPlace("a")}, .required_tags = {""}}),
            "BAD_PROFILE agent.profile.required_tags[0]");
}

TEST_F(GraphFieldTest, BudgetsEndThem) {
  std::atomic<bool> yes = true;
  for (const auto& [budget, told] : {std::pair(Budget{.cancelled = &yes}, "CANCELLED "),
                                     {Budget{.evicted = &yes}, "SNAPSHOT_EVICTED "},
                                     {Budget{.deadline = {}}, "DEADLINE_EXCEEDED "}}) {
    EXPECT_EQ(Reach({.start = "a"}, budget), told);
    EXPECT_EQ(Flow({.goals = {GraphPlace("a")}}, budget), told);
  }
}

TEST_F(GraphFieldTest, TheErrorNamesTheLimitThatIsReached) {
  const Budget few{.max_expansions = 2};
  EXPECT_THAT(std::string(FindReachableNodes(graph(), {.start = "a"}, few, scratch_).status().message()),
              ::testing::HasSubstr("expansions"));
  GraphScratch small(16);
  const GraphSeed a{Node("a"), 0};
  const auto visit = [](NodeNumber, Cost) { return true; };
  EXPECT_EQ(FloodGraph(graph(), {.seeds = {&a, 1}}, {}, small, visit).end, SearchEnd::kScratchLimit);
  const absl::Status status = FindReachableNodes(graph(), {.start = "a"}, {}, small).status();
  EXPECT_EQ(Told(status), "REGION_TOO_LARGE ");
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("memory"));
}

TEST(GraphFieldByChanceTest, ReachableNodesAgreeWithTheLongWay) {
  GraphScratch scratch(kSampleRoom);
  std::size_t reached = 0;
  ForSeeds(150, [&](Random& random) {
    const WaypointGraph graph = SampleGraph(random);
    for (int i = 0; i < 10; ++i) {
      ReachableNodesQuery query{.start = SamplePlace(graph, random),
                                .snap_radius = kSampleSnap,
                                .required_tags = SampleTags(random),
                                .region = SampleRegion(random),
                                .sense = i % 2 == 0 ? GraphSense::kFromSeeds : GraphSense::kToSeeds};
      if (random.Chance(0.5)) {
        query.max_cost = random.Chance(0.1) ? std::numeric_limits<double>::infinity() : random.Between(0, 8);
      }
      const absl::StatusOr<ReachableNodes> reachable = FindReachableNodes(graph, query, {}, scratch);
      const GraphSeat start = SeatOf(graph, query.start);
      if (!reachable.ok()) {
        const bool is_inside = !query.region || Holds(*query.region, graph.PositionOf(start.node));
        ASSERT_EQ(Told(reachable.status()), is_inside ? "START_BLOCKED start" : "BAD_VALUE start");
        ASSERT_TRUE(!is_inside || !graph.IsEnabled(start.node));
        continue;
      }
      std::vector<ReachableNode> expected;
      for (const auto& [node, cost] :
           NaiveCosts(graph, {{start.node, start.cost}}, query.sense, query.required_tags, query.region)) {
        if (!query.max_cost || CostToDouble(cost) <= *query.max_cost) {
          expected.push_back({node, CostToDouble(cost)});
        }
      }
      ASSERT_EQ(reachable->nodes, expected) << "query " << i;
      reached += expected.size();
    }
  });
  EXPECT_GT(reached, Rounds(3000));
}

TEST(GraphFieldByChanceTest, FlowsAgreeWithTheLongWay) {
  GraphScratch scratch(kSampleRoom);
  std::size_t led = 0;
  ForSeeds(150, [&](Random& random) {
    const WaypointGraph graph = SampleGraph(random);
    for (int i = 0; i < 10; ++i) {
      const std::vector<GraphPlace> goals = SamplePlaces(graph, random, random.Between(1, 4));
      GraphFlowQuery query{.goals = goals, .snap_radius = kSampleSnap, .required_tags = SampleTags(random)};
      if (random.Chance(0.5)) {
        query.max_cost = random.Between(0, 8);
      }
      std::vector<GraphSeed> seeds;
      for (const GraphPlace& goal : goals) {
        const GraphSeat seat = SeatOf(graph, goal);
        if (graph.IsEnabled(seat.node)) {
          seeds.push_back({seat.node, seat.cost});
        }
      }
      const absl::StatusOr<GraphFlow> flow = ComputeGraphFlow(graph, query, {}, scratch);
      if (seeds.empty()) {
        ASSERT_EQ(Told(flow.status()), "GOAL_BLOCKED goals");
        continue;
      }
      ASSERT_EQ(flow.status(), absl::OkStatus());
      std::map<NodeNumber, Cost> expected =
          NaiveCosts(graph, seeds, GraphSense::kToSeeds, query.required_tags);
      std::erase_if(expected, [&](const auto& node) {
        return query.max_cost && CostToDouble(node.second) > *query.max_cost;
      });
      ASSERT_EQ(flow->steps.size(), expected.size());
      auto node = expected.begin();
      std::map<NodeNumber, NodeNumber> next;
      for (const GraphFlowStep& step : flow->steps) {
        ASSERT_EQ(step.node, node->first) << "query " << i;
        ASSERT_EQ(step.cost, CostToDouble(node->second));
        next[step.node] = step.next;
        ++node;
      }
      // Each way ends at a goal, and its arcs cost what the flow says.
      for (const auto& [from, cost] : expected) {
        Cost left = cost;
        NodeNumber at = from;
        for (std::size_t steps = 0; next.at(at) != kNoNodeNumber; at = next.at(at), ++steps) {
          ASSERT_LT(steps, expected.size());
          const Arc* arc = graph.FindArc(at, next.at(at));
          ASSERT_NE(arc, nullptr);
          left -= arc->cost;
        }
        ASSERT_TRUE(std::any_of(seeds.begin(), seeds.end(),
                                [&](const GraphSeed& goal) { return goal.node == at && goal.cost == left; }));
      }
      led += expected.size();
    }
  });
  EXPECT_GT(led, Rounds(3000));
}

// FindGraphPath is the judge of each entry of a matrix.

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
