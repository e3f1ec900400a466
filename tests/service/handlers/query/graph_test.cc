// What handlers make of waypoint graphs.

#include <string>
#include <vector>

#include "client/batch.h"
#include "gmock/gmock.h"
#include "server/service/handlers/maps/listings.h"
#include "server/service/handlers/query/answer_query.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;

constexpr auto kNotFound = absl::StatusCode::kNotFound;

class GraphTest : public HandlerTest {
 protected:
  // A crate on the edge from a to b.
  static v1::UpdateMapRequest PutCrate() {
    return Parsed<v1::UpdateMapRequest>(R"(
      map: "paths"
      edits { add_obstacle { id: "crate" shape { discs { center { x: 2 } radius: 0.5 } } } })");
  }

  absl::StatusOr<v1::FindPathResponse> FindFromAToC() {
    auto request = About<v1::FindPathRequest>("paths");
    request.mutable_start()->set_node("a");
    request.add_goals()->set_node("c");
    return Find(request);
  }

  // a - b - c, and a longer way round by d.
  v1::CreateMapRequest create_ = Parsed<v1::CreateMapRequest>(R"(
    map: "paths"
    graph {
      nodes { id: "a" position {} } nodes { id: "b" position { x: 4 } }
      nodes { id: "c" position { x: 8 } } nodes { id: "d" position { x: 4 y: 3 } }
      edges { edge { from: "a" to: "b" } } edges { edge { from: "b" to: "c" } }
      edges { edge { from: "a" to: "d" } tags: "dry" } edges { edge { from: "d" to: "c" } tags: "dry" }
    })");
};

TEST_F(GraphTest, IsDescribedAndSearched) {
  const auto info = Create(create_).value();
  EXPECT_EQ(info.graph().nodes(), 4);
  EXPECT_EQ(info.graph().edges(), 8);
  EXPECT_THAT(info.graph().tags(), ElementsAre("dry"));
  EXPECT_GT(info.memory_bytes(), 0);
  EXPECT_FALSE(info.has_grid());
  const auto answer = FindFromAToC().value();
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 8);
  EXPECT_THAT(answer.path().nodes(), ElementsAre("a", "b", "c"));
  ASSERT_EQ(answer.path().positions_size(), 3);
  EXPECT_EQ(answer.path().positions(1).x(), 4);
  EXPECT_EQ(answer.info().version().revision(), 1U);
  EXPECT_EQ(answer.info().statistics().algorithm(), v1::ALGORITHM_ASTAR);
  EXPECT_EQ(TextOf(answer.path().start()), "node: \"a\"");
  EXPECT_EQ(TextOf(answer.path().end()), "node: \"c\"");
}

TEST_F(GraphTest, ConnectsByTheSightOfAGridMap) {
  Create("cells", {".....", ".###.", "....."},
         Parsed<v1::GridOptions>("origin { x: 100 y: -20 } cell_size: 2"));
  *create_.mutable_graph() = Parsed<v1::WaypointGraph>(R"(
    nodes { id: "a" position { x: 101 y: -19 } } nodes { id: "b" position { x: 109 y: -19 } }
    nodes { id: "c" position { x: 109 y: -15 } }
    auto_connect { max_distance: 10 reference_map: "cells" })");
  ASSERT_TRUE(Create(create_).ok());
  EXPECT_THAT(FindFromAToC()->path().nodes(), ElementsAre("a", "b", "c"));
}

TEST_F(GraphTest, ChangesAndObstaclesAreTold) {
  ASSERT_TRUE(Create(create_).ok());
  v1::UpdateMapRequest request = PutCrate();
  request.add_edits()->mutable_add_nodes()->add_nodes()->set_id("e");
  const auto updated = Update(request).value();
  EXPECT_EQ(updated.version().revision(), 2U);
  EXPECT_EQ(updated.changed_edges(), 2);
  EXPECT_EQ(updated.changed_nodes(), 1);
  EXPECT_EQ(updated.changed_bounds().width(), 5);
  EXPECT_THAT(FindFromAToC()->path().nodes(), ElementsAre("a", "d", "c"));
  const auto list = Parsed<v1::ListObstaclesRequest>(R"(map: "paths" region { width: 2 height: 2 })");
  const auto listed = Answer<v1::ListObstaclesResponse>([&](v1::ListObstaclesResponse& response) {
    return rpc::ListNamedObstacles(store_, kMaxBytes, list, response);
  });
  ASSERT_EQ(listed->obstacles_size(), 1);
  EXPECT_EQ(listed->obstacles(0).id(), "crate");
}

TEST_F(GraphTest, NodesAreListedInPages) {
  ASSERT_TRUE(Create(create_).ok());
  v1::ListNodesRequest request;
  const auto list = [&] {
    return Answer<v1::ListNodesResponse>([&](v1::ListNodesResponse& response) {
      return rpc::ListWaypointNodes(store_, kMaxBytes, request, response);
    });
  };
  request.set_map("paths");
  request.set_page_size(3);
  std::vector<std::string> ids;
  const Patience patience("the last page");
  do {
    const auto page = list().value();
    for (const v1::WaypointNodeInfo& node : page.nodes()) {
      ids.push_back(node.node().id());
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() && patience.Lasts());
  EXPECT_THAT(ids, ::testing::UnorderedElementsAre("a", "b", "c", "d"));
  request.add_ids("d");
  request.add_ids("nobody");
  const auto some = list().value();
  ASSERT_EQ(some.nodes_size(), 1);
  ASSERT_EQ(some.nodes(0).edges_size(), 2);
  EXPECT_EQ(some.nodes(0).edges(0).cost(), 5);
  EXPECT_TRUE(some.nodes(0).edges(0).open());
  request.set_page_size(-1);
  EXPECT_THAT(list(), IsError(kInvalid, ErrorReason::kBadValue, "page_size"));
  Create("cells", {"..."});
  request.Clear();
  request.set_map("cells");
  EXPECT_THAT(list(), IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "map"));
}

TEST_F(GraphTest, LabelsOfNodesAreKeptAndListed) {
  create_.mutable_graph()->mutable_nodes(0)->set_label("Köln/Hbf");
  const auto created = Create(create_).value();
  auto list = About<v1::ListNodesRequest>("paths");
  list.add_ids("a");
  list.add_ids("b");
  const auto labels = [&] {
    std::vector<std::string> found;
    const auto page = Answer<v1::ListNodesResponse>([&](v1::ListNodesResponse& response) {
      return rpc::ListWaypointNodes(store_, kMaxBytes, list, response);
    });
    EXPECT_TRUE(page.ok()) << page.status();
    for (const v1::WaypointNodeInfo& info : page->nodes()) {
      found.push_back(info.node().label());
    }
    return found;
  };
  EXPECT_THAT(labels(), ElementsAre("Köln/Hbf", ""));
  auto request = Parsed<v1::UpdateMapRequest>(R"(
    map: "paths"
    edits { put_nodes { nodes { id: "b" position { x: 4 } label: "B" } } })");
  const auto updated = Update(request).value();
  EXPECT_NE(updated.digest(), created.digest());
  EXPECT_THAT(labels(), ElementsAre("Köln/Hbf", "B"));
  EXPECT_THAT(FindFromAToC()->path().nodes(), ElementsAre("a", "b", "c"));
  request.mutable_edits(0)->mutable_put_nodes()->mutable_nodes(0)->set_label("\x1B[2J");
  EXPECT_THAT(Update(request),
              IsError(kInvalid, ErrorReason::kBadValue, "edits[0].put_nodes.nodes[0].label"));
  EXPECT_THAT(labels(), ElementsAre("Köln/Hbf", "B"));
}

TEST_F(GraphTest, BadGraphsAreRefused) {
  const auto refused = [&](auto change) {
    v1::CreateMapRequest request = create_;
    change(*request.mutable_graph());
    return Create(request);
  };
  using G = v1::WaypointGraph;
  EXPECT_THAT(
      refused([](G& g) { *g.add_edges() = Parsed<v1::WaypointEdge>("edge { from: 'a' to: 'nobody' }"); }),
      IsError(kNotFound, ErrorReason::kNodeNotFound, "graph.edges[4].edge.to"));
  EXPECT_THAT(refused([](G& g) { g.mutable_nodes(3)->set_label(std::string(201, 'x')); }),
              IsError(kInvalid, ErrorReason::kBadValue, "graph.nodes[3].label"));
  EXPECT_THAT(refused([](G& g) { g.add_edges(); }),
              IsError(kInvalid, ErrorReason::kMissingField, "graph.edges[4].edge"));
  EXPECT_THAT(refused([](G& g) { g.mutable_auto_connect()->set_reference_map("nowhere"); }),
              IsError(kNotFound, ErrorReason::kMapNotFound, "graph.auto_connect.reference_map"));
  EXPECT_THAT(refused([](G& g) { g.add_obstacles()->set_id("o"); }),
              IsError(kInvalid, ErrorReason::kMissingField, "graph.obstacles[0].shape"));
  v1::CreateMapRequest both = create_;
  both.add_rows("..");
  EXPECT_THAT(Create(both), IsError(kInvalid, ErrorReason::kBadSource, "graph"));
  EXPECT_EQ(store_.size(), 0U);
}

TEST_F(GraphTest, BadQuestionsNameTheField) {
  ASSERT_TRUE(Create(create_).ok());
  const auto refused_by = [this](const auto& request, auto response) {
    return [this, request](const std::string& change) {
      return Ask<decltype(response)>(Merged(request, "map: 'paths' " + change)).status();
    };
  };
  const auto matrix = refused_by(v1::ComputeCostMatrixRequest(), v1::ComputeCostMatrixResponse());
  const auto reach = refused_by(v1::FindReachableRequest(), v1::FindReachableResponse());
  const auto flow = refused_by(v1::ComputeFlowFieldRequest(), v1::ComputeFlowFieldResponse());
  const auto pairs = refused_by(v1::CheckReachabilityRequest(), v1::CheckReachabilityResponse());
  const auto ray = refused_by(v1::CastRayRequest(), v1::CastRayResponse());
  const auto draw = refused_by(v1::SamplePlacesRequest(), v1::SamplePlacesResponse());
  const auto validation = refused_by(v1::ValidatePathsRequest(), v1::ValidatePathsResponse());
  const auto is_of_cells = [](const std::string& field) {
    return IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, field);
  };
  EXPECT_THAT(matrix("starts { cell {} }"), is_of_cells("starts[0].cell"));
  EXPECT_THAT(reach("start { cell {} }"), is_of_cells("start.cell"));
  EXPECT_THAT(flow("goals { cell {} }"), is_of_cells("goals[0].cell"));
  EXPECT_THAT(pairs("pairs { start { node: 'a' } goal { cell {} } }"), is_of_cells("pairs[0].goal.cell"));
  EXPECT_THAT(ray("from { cell {} } to { cell {} }"), is_of_cells("from.cell"));
  EXPECT_THAT(validation("paths { points {} }"), is_of_cells("paths[0].points"));
  v1::ListPortalsResponse portals;
  EXPECT_THAT(rpc::ListMapPortals(store_, kMaxBytes, About<v1::ListPortalsRequest>("paths"), portals),
              is_of_cells("map"));
  auto queries = About<v1::FindPathsRequest>("paths");
  client::AddEnds(PathRequest("paths", CellAt(0, 0), CellAt(1, 0)), queries);
  v1::FindPathsResponse paths;
  ASSERT_TRUE(rpc::AnswerQueries(store_, kMaxBytes, queries, paths, context_).ok());
  EXPECT_EQ(paths.results(0).problem().code(), static_cast<int>(absl::StatusCode::kFailedPrecondition));

  EXPECT_THAT(matrix(""), IsError(kInvalid, ErrorReason::kMissingField, "starts"));
  EXPECT_THAT(matrix("starts { node: 'a' }"), IsError(kInvalid, ErrorReason::kMissingField, "goals"));
  EXPECT_THAT(matrix("starts { node: 'a' } goals { node: 'nobody' }"),
              IsError(kNotFound, ErrorReason::kNodeNotFound, "goals[0].node"));
  EXPECT_THAT(draw("count: 1 reachable_from { node: 'nobody' }"),
              IsError(kNotFound, ErrorReason::kNodeNotFound, "reachable_from.node"));
  EXPECT_THAT(draw("count: 1 along_edges: true distinct: true"),
              IsError(kInvalid, ErrorReason::kBadValue, "distinct"));
  EXPECT_THAT(validation("paths {}"), IsError(kInvalid, ErrorReason::kMissingField, "paths[0].nodes"));
  EXPECT_THAT(validation("paths { nodes: 'a' end { position { x: 1e300 } } }"),
              IsError(kInvalid, ErrorReason::kBadValue, "paths[0].end.position.x"));
}

TEST_F(GraphTest, AnswersNameNodes) {
  ASSERT_TRUE(Create(create_).ok());
  const auto reach =
      Parsed<v1::FindReachableRequest>(R"(map: "paths" start { node: "a" } max_cost: 5 with_costs: true)");
  const auto reachable = Ask<v1::FindReachableResponse>(reach).value();
  ASSERT_EQ(reachable.nodes_size(), 3);
  double cost = 0.0;
  for (const v1::ReachableNode& node : reachable.nodes()) {
    cost += node.cost();
  }
  EXPECT_EQ(cost, 0 + 4 + 5);
  auto field = About<v1::ComputeFlowFieldRequest>("paths");
  field.add_goals()->set_node("c");
  const auto flow = Ask<v1::ComputeFlowFieldResponse>(field).value();
  for (const v1::NodeStep& step : flow.nodes()) {
    EXPECT_EQ(step.next(), step.node() == "c" ? "" : step.node() == "a" ? "b" : "c") << step.node();
    EXPECT_FALSE(step.has_cost());
  }
  ASSERT_TRUE(Update(PutCrate()).ok());
  const auto ray = Parsed<v1::CastRayRequest>(R"(map: "paths" from { node: "a" } to { node: "b" })");
  const auto hit = Ask<v1::CastRayResponse>(ray).value();
  EXPECT_TRUE(hit.blocked());
  EXPECT_EQ(hit.obstacle(), "crate");
  EXPECT_NEAR(hit.position().x(), 1.5, 1e-5);
  EXPECT_NEAR(hit.fraction(), 1.5 / 4, 1e-5);
  const auto path = Parsed<v1::ValidatePathsRequest>(R"(map: "paths" paths { nodes: ["a", "b", "c"] })");
  const auto blocked = Validate(path).value();
  EXPECT_FALSE(blocked.walkable());
  EXPECT_EQ(blocked.blocked_index(), 1);
  EXPECT_EQ(blocked.blocked_by(), "crate");
}

TEST_F(GraphTest, AnExplanationNamesWhatBlocks) {
  ASSERT_TRUE(Create(create_).ok());
  ASSERT_TRUE(Update(PutCrate()).ok());
  auto request = Parsed<v1::ExplainPathRequest>(R"(
    map: "paths" start { node: "a" } goal { node: "c" } price: 0.25
    view {
      overlay {
        blocked_edges { from: "b" to: "c" } blocked_nodes: "c" blocked { cells { x: 3 y: -1 } }
      }
    })");
  const auto answer = Ask<v1::ExplainPathResponse>(request).value();
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 8);
  EXPECT_EQ(answer.price(), 1);
  EXPECT_THAT(answer.path().nodes(), ElementsAre("a", "b", "c"));
  ASSERT_EQ(answer.blockers_size(), 4);
  EXPECT_EQ(TextOf(answer.blockers(0)), R"(obstacle: "crate" entry { node: "a" } price: 0.25)");
  EXPECT_EQ(TextOf(answer.blockers(1)), R"(overlay: true entry { node: "a" } price: 0.25)");
  EXPECT_EQ(TextOf(answer.blockers(2)),
            R"(edge { from: "b" to: "c" one_way: true } entry { node: "b" } price: 0.25)");
  EXPECT_EQ(TextOf(answer.blockers(3)), R"(node: "c" entry { node: "c" } price: 0.25)");
  request.set_only_obstacles(true);
  EXPECT_EQ(Ask<v1::ExplainPathResponse>(request)->outcome(), v1::OUTCOME_UNREACHABLE);
}

TEST_F(GraphTest, ABatchSharesItsOverlay) {
  ASSERT_TRUE(Create(create_).ok());
  auto request = About<v1::FindPathsRequest>("paths");
  request.mutable_view()->mutable_overlay()->add_blocked_nodes("b");
  for (int i = 0; i < 3; ++i) {
    v1::PathQuery& query = *request.add_queries();
    query.mutable_start()->set_node("a");
    query.add_goals()->set_node("c");
  }
  v1::FindPathsResponse answers;
  ASSERT_TRUE(rpc::AnswerQueries(store_, kMaxBytes, request, answers, context_).ok());
  for (const v1::FindPathsResult& result : answers.results()) {
    EXPECT_EQ(result.answer().cost(), 10);
  }
  request.mutable_view()->mutable_overlay()->add_blocked_nodes("nobody");
  EXPECT_THAT(rpc::AnswerQueries(store_, kMaxBytes, request, answers, context_),
              IsError(kNotFound, ErrorReason::kNodeNotFound, "view.overlay.blocked_nodes[1]"));
}

}  // namespace
}  // namespace waystar
