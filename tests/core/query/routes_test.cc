// What a route is told with, what ends a search for it, and what a graph's routes are.

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/query/solve.h"
#include "tests/core/query/route_test.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

class RoutesTest : public RouteTest {
 protected:
  RoutesTest() {
    Create("room", {"....",  //
                    ".##.",  //
                    "...."});
  }
};

TEST_F(RoutesTest, HonourEachOption) {
  RouteQuery query = Between({0, 1}, {3, 1});
  query.algorithm = Algorithm::kAStar;
  EXPECT_EQ(Told("room", query), "5: (0, 1) (0, 0) (1, 0) (2, 0) (3, 0) (3, 1)");
  EXPECT_EQ(Find("room", query)->path.statistics.algorithm, Algorithm::kAStar);
  query.path_form = PathForm::kCorners;
  EXPECT_EQ(Told("room", query), "5: (0, 1) (0, 0) (3, 0) (3, 1)");
  query.path_form = PathForm::kDirections;
  query.agent.corner_rule = CornerRule::kOneSideFree;
  query.algorithm = Algorithm::kDijkstra;
  const absl::StatusOr<Route> route = Find("room", query);
  EXPECT_THAT(route->path.directions,
              ElementsAre(Direction::kNorthEast, Direction::kEast, Direction::kSouthEast));
  EXPECT_EQ(route->path.statistics.algorithm, Algorithm::kDijkstra);
  EXPECT_GT(route->searching.count(), 0);
}

TEST_F(RoutesTest, AtAnyAngleHaveNoDirections) {
  RouteQuery query = Between({0, 1}, {3, 1});
  query.algorithm = Algorithm::kLazyThetaStar;
  query.path_form = PathForm::kDirections;
  EXPECT_EQ(Told("room", query), "BAD_VALUE path_form");
}

TEST_F(RoutesTest, SummaryIsInUnitsOfTheWorld) {
  Create("half",
         {"........",  //
          "...##...",  //
          "...##...",  //
          "........"},
         {.frame = {.cell_size = 0.5}});
  RouteQuery query = Between({0, 0}, {7, 3});
  EXPECT_FALSE(Find("half", query)->summary.has_value());
  query.with_summary = true;
  for (const PathForm form : {PathForm::kEveryCell, PathForm::kCorners, PathForm::kDirections}) {
    query.path_form = form;
    const absl::StatusOr<Route> route = Find("half", query);
    ASSERT_TRUE(route.ok() && route->summary.has_value());
    EXPECT_GT(route->summary->turns, 0);
    ASSERT_EQ(route->summary->legs.size(), 1U);
    EXPECT_EQ(route->summary->legs[0].terrain, '.');
    EXPECT_NEAR(route->summary->legs[0].cost, route->path.cost, 1e-9);
    // Diagonals cost as much as they are long here.
    EXPECT_NEAR(route->summary->length, route->path.cost / 2, 1e-6);
  }
  query.goals[0].cell = Cell{3, 1};
  query.unreachable_policy = UnreachablePolicy::kReport;
  EXPECT_FALSE(Find("half", query).ok());
}

TEST_F(RoutesTest, OfTwoLimitsOfExpansionsTheFewerCount) {
  RouteQuery query = Between({0, 1}, {3, 1});
  query.max_expansions = 1;
  EXPECT_EQ(Find("room", query)->path.reason, OutcomeReason::kExpansionLimit);
  EXPECT_EQ(Find("room", query, {.max_expansions = 100})->path.reason, OutcomeReason::kExpansionLimit);
  SearchRecorder recorder(100);
  EXPECT_EQ(Find("room", query, {}, &recorder)->path.reason, OutcomeReason::kExpansionLimit) << "traced";
  query.max_expansions = 100;
  EXPECT_EQ(Find("room", query)->path.reason, OutcomeReason::kGoalReached);
  EXPECT_EQ(Find("room", query, {.max_expansions = 1})->path.reason, OutcomeReason::kExpansionLimit);
}

TEST_F(RoutesTest, EndWithTheirBudgetAndTheirSnapshot) {
  const RouteQuery query = Between({0, 1}, {3, 1});
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(Told("room", query, {.cancelled = &cancelled}), "CANCELLED ");
  EXPECT_EQ(Told("room", query, {.deadline = std::chrono::steady_clock::time_point::min()}),
            "DEADLINE_EXCEEDED ");
  const PinnedSnapshot pinned = *store_.Pin("room");
  pinned->eviction.Set();
  EXPECT_EQ(Told("room", query), "SNAPSHOT_EVICTED ");
}

// a - b - c, and a longer way round by d.
class GraphRoutesTest : public RouteTest {
 protected:
  GraphRoutesTest() {
    const auto edge = [](const std::string& from, const std::string& to, std::vector<std::string> tags = {}) {
      return WaypointEdge{.name = {.from = from, .to = to}, .tags = std::move(tags)};
    };
    absl::StatusOr<WaypointGraph> graph = WaypointGraph::Create(
        {.nodes = {{.id = "a", .position = {0, 0, 0}},
                   {.id = "b", .position = {4, 0, 0}},
                   {.id = "c", .position = {8, 0, 0}},
                   {.id = "d", .position = {4, 3, 0}}},
         .edges = {edge("a", "b"), edge("b", "c"), edge("a", "d", {"dry"}), edge("d", "c", {"dry"})}});
    EXPECT_THAT(graph, IsOk());
    EXPECT_THAT(store_.Create("paths", *std::move(graph), absl::UnixEpoch()), IsOk());
  }

  static RouteQuery BetweenNodes(const std::string& start, const std::string& goal) {
    return {.start = {.node = start}, .goals = {{.node = goal}}};
  }

  // "a b c at 8", or what is wrong.
  std::string Nodes(const RouteQuery& query) {
    const absl::StatusOr<Route> route = Find("paths", query);
    if (!route.ok()) {
      return absl::StrCat(ErrorReasonOf(route.status()), " ", ErrorFieldOf(route.status()));
    }
    std::string told;
    for (const NodeNumber node : route->nodes) {
      absl::StrAppend(&told, route->graph->IdOf(node), " ");
    }
    return absl::StrCat(told, "at ", route->path.cost);
  }
};

TEST_F(GraphRoutesTest, GoByNodes) {
  EXPECT_EQ(Nodes(BetweenNodes("a", "c")), "a b c at 8");
  EXPECT_THAT(Find("paths", BetweenNodes("a", "c"))->positions,
              ElementsAre(WorldPoint{0, 0}, WorldPoint{4, 0}, WorldPoint{8, 0}));
  RouteQuery dry = BetweenNodes("a", "c");
  dry.agent.profile = MovementProfile{.required_tags = {"dry"}};
  EXPECT_EQ(Nodes(dry), "a d c at 10");
}

TEST_F(GraphRoutesTest, GoToTheNearestOfSeveralGoals) {
  RouteQuery query = BetweenNodes("a", "c");
  query.goals.push_back({.position = WorldPoint{4, 2}});
  query.snap = Snap{2};
  EXPECT_EQ(Nodes(query), "a d at 6");
  EXPECT_EQ(Find("paths", query)->goal_index, 1U);
  EXPECT_EQ(Find("paths", query)->positions.back(), (WorldPoint{4, 2}));
  query.goals.push_back({.node = "b"});
  EXPECT_EQ(Nodes(query), "a b at 4");
  EXPECT_EQ(Find("paths", query)->goal_index, 2U);
  query.goals.push_back({.cell = Cell()});
  EXPECT_EQ(Nodes(query), "WRONG_MAP_KIND goals[3].cell");
  query.goals.back() = {.node = "nobody"};
  EXPECT_EQ(Nodes(query), "NODE_NOT_FOUND goals[3].node");
  query.goals.pop_back();
  query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
  EXPECT_EQ(Nodes(query), "BAD_VALUE goals");
}

TEST_F(GraphRoutesTest, GoBetweenPositions) {
  RouteQuery query = {.start = {.position = WorldPoint{0, -1}}, .goals = {{.position = WorldPoint{8, 2}}}};
  query.snap = Snap{3};
  EXPECT_EQ(Nodes(query), "a b c at 11");
  EXPECT_THAT(
      Find("paths", query)->positions,
      ElementsAre(WorldPoint{0, -1}, WorldPoint{0, 0}, WorldPoint{4, 0}, WorldPoint{8, 0}, WorldPoint{8, 2}));
  query.snap = Snap{0.5};
  EXPECT_EQ(Nodes(query), "NO_NODE_NEAR start");
}

TEST_F(GraphRoutesTest, WithoutASnapAPositionIsAtANodeOrNowhere) {
  EXPECT_EQ(Nodes({.start = {.position = WorldPoint{0, 0}}, .goals = {{.position = WorldPoint{8, 0}}}}),
            "a b c at 8");
  EXPECT_EQ(Nodes({.start = {.position = WorldPoint{0, 1}}, .goals = {{.node = "c"}}}), "NO_NODE_NEAR start");
  EXPECT_EQ(Nodes({.start = {.node = "a"}, .goals = {{.position = WorldPoint{1000, 0}}}}),
            "NO_NODE_NEAR goals[0]");
}

TEST_F(GraphRoutesTest, BadEndsNameTheField) {
  EXPECT_EQ(Nodes(BetweenNodes("a", "nobody")), "NODE_NOT_FOUND goals[0].node");
  EXPECT_EQ(Nodes(BetweenNodes("a", "")), "MISSING_FIELD goals[0]");
  EXPECT_EQ(Nodes({.start = {.node = "a"}}), "MISSING_FIELD goals");
  RouteQuery query = BetweenNodes("a", "b");
  query.algorithm = Algorithm::kJumpPoint;
  EXPECT_EQ(Nodes(query), "ALGORITHM_UNSUITED algorithm");
  query = BetweenNodes("a", "b");
  query.agent.profile = MovementProfile{.required_tags = {"no way"}};
  EXPECT_EQ(Nodes(query), "BAD_PROFILE agent.profile.required_tags[0]");
  query = {.start = {.position = WorldPoint()},
           .goals = {{.position = WorldPoint{std::numeric_limits<double>::infinity(), 0}}}};
  EXPECT_EQ(Nodes(query), "BAD_VALUE goals[0].position.x");
  query = BetweenNodes("a", "b");
  query.snap = Snap{-1};
  EXPECT_EQ(Nodes(query), "BAD_VALUE snap.radius");
}

TEST_F(GraphRoutesTest, FieldsOfGridsAreRefused) {
  const auto refused = [&](const std::function<void(RouteQuery&)>& change) {
    RouteQuery query = BetweenNodes("a", "b");
    change(query);
    const std::string told = Nodes(query);
    EXPECT_TRUE(told.starts_with("WRONG_MAP_KIND ")) << told;
    return told.substr(told.find(' ') + 1);
  };
  EXPECT_EQ(refused([](RouteQuery& query) { query.start.cell = Cell(); }), "start.cell");
  EXPECT_EQ(refused([](RouteQuery& query) { query.goals[0].cell = Cell(); }), "goals[0].cell");
  EXPECT_EQ(refused([](RouteQuery& query) { query.path_form = PathForm::kCorners; }), "path_form");
  EXPECT_EQ(refused([](RouteQuery& query) { query.agent.footprint = 40; }), "agent.footprint");
  EXPECT_EQ(refused([](RouteQuery& query) { query.agent.corner_rule = CornerRule::kAlways; }),
            "agent.corner_rule");
  EXPECT_EQ(refused([](RouteQuery& query) { query.goal_map = "elsewhere"; }), "goal_map");
  EXPECT_EQ(refused([](RouteQuery& query) { query.agent.profile_name = "tank"; }), "agent.profile_name");
  EXPECT_EQ(refused([](RouteQuery& query) {
              query.agent.profile = MovementProfile{.terrain_costs = {{'.', 1.0}}};
            }),
            "agent.profile.terrain_costs");
  EXPECT_EQ(
      refused([](RouteQuery& query) { query.agent.profile = MovementProfile{.forbidden_terrains = {'~'}}; }),
      "agent.profile.forbidden_terrains");
  EXPECT_EQ(refused([](RouteQuery& query) { query.agent.profile = MovementProfile{.footprint = 2}; }),
            "agent.profile.footprint");
  EXPECT_EQ(refused([](RouteQuery& query) {
              query.agent.profile = MovementProfile{.corner_rule = CornerRule::kAlways};
            }),
            "agent.profile.corner_rule");
  EXPECT_EQ(refused([](RouteQuery& query) { query.agent.profile = MovementProfile{.no_diagonals = true}; }),
            "agent.profile.diagonals");
}

TEST_F(GraphRoutesTest, NodesAreOfGraphsAlone) {
  Create("cells", {"..."});
  EXPECT_EQ(Told("cells", BetweenNodes("a", "b")), "WRONG_MAP_KIND start.node");
  RouteQuery query = Between({0, 0}, {1, 0});
  query.goals[0].node = "b";
  EXPECT_EQ(Told("cells", query), "WRONG_MAP_KIND goals[0].node");
}

TEST_F(GraphRoutesTest, AreTraced) {
  SearchRecorder recorder(100);
  const auto route = Find("paths", BetweenNodes("a", "b"), {}, &recorder);
  ASSERT_THAT(route, IsOk());
  EXPECT_TRUE(recorder.cells.events().empty());
  const std::vector<NodeEvent>& events = recorder.nodes.events();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().kind, SearchEvent::Kind::kGenerated);
  EXPECT_EQ(events.front().node, events.front().parent) << "the start comes from nowhere";
  std::uint64_t expanded = 0;
  for (const NodeEvent& event : events) {
    expanded += event.kind == SearchEvent::Kind::kExpanded ? 1 : 0;
    EXPECT_GE(event.f, event.g);
  }
  EXPECT_EQ(expanded, route->path.statistics.expanded);
  SearchRecorder one(1);
  ASSERT_THAT(Find("paths", BetweenNodes("a", "b"), {}, &one), IsOk());
  EXPECT_TRUE(one.is_truncated());
}

TEST_F(GraphRoutesTest, HaveNoPortals) {
  Create("cells", {"..#.."});
  Apply("cells", {PutPortal{.portal = {.id = "gate", .to_map = "paths", .to = {1, 0}}}});
  EXPECT_EQ(Told("cells", Between({1, 0}, {4, 0})), "no way");
  RouteQuery there = Between({1, 0}, {1, 0});
  there.goal_map = "paths";
  EXPECT_EQ(Told("cells", there), "MAP_NOT_FOUND goal_map");
}

}  // namespace
}  // namespace waystar::core
