// Waypoint graphs over the wire.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/rpc/watch/watch_of_path.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Patience;
using ::waystar::testing::TestServer;
using ::waystar::testing::WatchOfPath;

constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

class GraphTest : public ::testing::Test {
 protected:
  GraphTest() {
    // a - b - c, and a longer way round by d.
    create_.set_map("paths");
    v1::WaypointGraph& graph = *create_.mutable_graph();
    AddNode(graph, "a", 0, 0);
    AddNode(graph, "b", 4, 0);
    AddNode(graph, "c", 8, 0);
    AddNode(graph, "d", 4, 3);
    AddEdge(graph, "a", "b");
    AddEdge(graph, "b", "c");
    AddEdge(graph, "a", "d").add_tags("dry");
    AddEdge(graph, "d", "c").add_tags("dry");
  }

  static void AddNode(v1::WaypointGraph& graph, const std::string& id, double x, double y) {
    v1::WaypointNode& node = *graph.add_nodes();
    node.set_id(id);
    node.mutable_position()->set_x(x);
    node.mutable_position()->set_y(y);
  }

  static v1::WaypointEdge& AddEdge(v1::WaypointGraph& graph, const std::string& from, const std::string& to) {
    v1::WaypointEdge& edge = *graph.add_edges();
    edge.mutable_edge()->set_from(from);
    edge.mutable_edge()->set_to(to);
    return edge;
  }

  void Create() {
    const auto created = server_.client().CreateMap(create_);
    ASSERT_TRUE(created.ok()) << created.status();
  }

  v1::FindPathRequest Query(const std::string& start, const std::string& goal) {
    v1::FindPathRequest request;
    request.set_map("paths");
    request.set_start_node(start);
    request.set_goal_node(goal);
    return request;
  }

  // "a b c at 8".
  std::string Path(const v1::FindPathRequest& request) {
    const auto answer = server_.client().FindPath(request);
    if (!answer.ok()) {
      return std::string(answer.status().message());
    }
    return absl::StrCat(absl::StrJoin(answer->nodes(), " "), " at ", answer->cost());
  }

  absl::StatusOr<v1::UpdateObstaclesResponse> Send(const v1::Edit& edit) {
    v1::UpdateObstaclesRequest request;
    request.set_map("paths");
    *request.add_edits() = edit;
    return server_.client().UpdateObstacles(request);
  }

  TestServer server_;
  v1::CreateMapRequest create_;
};

TEST_F(GraphTest, IsCreatedAndDescribed) {
  const auto created = server_.client().CreateMap(create_);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->info().graph().nodes(), 4);
  EXPECT_EQ(created->info().graph().edges(), 8);
  EXPECT_THAT(created->info().graph().tags(), ElementsAre("dry"));
  EXPECT_GT(created->info().memory_bytes(), 0);
  EXPECT_FALSE(created->info().has_grid());
  const auto maps = server_.client().ListMaps({});
  ASSERT_TRUE(maps.ok());
  EXPECT_EQ(maps->maps(0).graph().nodes(), 4);
}

TEST_F(GraphTest, FindsPathsByNodes) {
  Create();
  const auto answer = server_.client().FindPath(Query("a", "c"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer->cost(), 8);
  EXPECT_THAT(answer->nodes(), ElementsAre("a", "b", "c"));
  ASSERT_EQ(answer->positions_size(), 3);
  EXPECT_EQ(answer->positions(1).x(), 4);
  EXPECT_EQ(answer->revision(), 1u);
  EXPECT_EQ(answer->statistics().algorithm(), v1::ALGORITHM_ASTAR);
  EXPECT_FALSE(answer->has_end());
  v1::FindPathRequest dry = Query("a", "c");
  dry.mutable_profile()->add_required_tags("dry");
  EXPECT_EQ(Path(dry), "a d c at 10");
}

TEST_F(GraphTest, ConnectsByTheSightOfAGridMap) {
  v1::CreateMapRequest cells;
  cells.set_map("cells");
  for (const char* row : {".....", ".###.", "....."}) {
    cells.add_rows(row);
  }
  cells.mutable_grid()->mutable_origin()->set_x(100);
  cells.mutable_grid()->mutable_origin()->set_y(-20);
  cells.mutable_grid()->set_cell_size(2);
  ASSERT_TRUE(server_.client().CreateMap(cells).ok());
  create_.mutable_graph()->Clear();
  AddNode(*create_.mutable_graph(), "a", 101, -19);
  AddNode(*create_.mutable_graph(), "b", 109, -19);
  AddNode(*create_.mutable_graph(), "c", 109, -15);
  create_.mutable_graph()->mutable_auto_connect()->set_max_distance(10);
  create_.mutable_graph()->mutable_auto_connect()->set_reference_map("cells");
  Create();
  EXPECT_EQ(Path(Query("a", "c")), "a b c at 12");
}

TEST_F(GraphTest, ObstaclesCloseEdgesAndAreListed) {
  Create();
  v1::Edit edit;
  v1::Obstacle& obstacle = *edit.mutable_put_obstacle()->mutable_obstacle();
  obstacle.set_id("crate");
  v1::Disc& disc = *obstacle.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(2);
  disc.set_radius(0.5);
  const auto updated = Send(edit);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->revision(), 2u);
  EXPECT_EQ(updated->changed_edges(), 2);
  EXPECT_EQ(updated->changed_bounds().width(), 5);
  EXPECT_EQ(Path(Query("a", "c")), "a d c at 10");
  v1::ListObstaclesRequest list;
  list.set_map("paths");
  list.mutable_region()->set_width(2);
  list.mutable_region()->set_height(2);
  const auto listed = server_.client().ListObstacles(list);
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->obstacles_size(), 1);
  EXPECT_EQ(listed->obstacles(0).id(), "crate");
}

TEST_F(GraphTest, EditsOfEveryKindAreSentAndWatched) {
  Create();
  v1::WatchMapRequest watch;
  watch.set_map("paths");
  watch.set_from_revision(2);
  watch.set_with_edits(true);
  std::vector<v1::Edit> edits(5);
  edits[0].mutable_put_nodes()->add_nodes()->set_id("e");
  v1::WaypointEdge& edge = *edits[1].mutable_put_edges()->add_edges();
  edge.mutable_edge()->set_from("a");
  edge.mutable_edge()->set_to("c");
  edge.set_cost(1.5);
  edge.add_tags("short");
  *edits[2].mutable_set_enabled()->add_edges() = edge.edge();
  *edits[3].mutable_remove_edges()->add_edges() = edge.edge();
  edits[4].mutable_remove_nodes()->add_nodes("e");
  const std::vector<std::string> paths = {"a b c at 8", "a c at 1.5", "a b c at 8", "a b c at 8",
                                          "a b c at 8"};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const auto sent = Send(edits[i]);
    ASSERT_TRUE(sent.ok()) << sent.status();
    EXPECT_EQ(Path(Query("a", "c")), paths[i]) << i;
  }
  auto stream = server_.client().WatchMap(watch);
  v1::WatchMapResponse message;
  ASSERT_TRUE(stream->Next(message));
  for (const v1::Edit& edit : edits) {
    ASSERT_TRUE(stream->Next(message));
    ASSERT_EQ(message.revision().edits_size(), 1);
    if (edit.has_put_nodes()) {
      EXPECT_EQ(message.revision().changed_nodes(), 1);
      EXPECT_EQ(message.revision().edits(0).put_nodes().nodes(0).id(), "e");
    } else {
      EXPECT_EQ(message.revision().edits(0).SerializeAsString(), edit.SerializeAsString());
    }
  }
}

TEST_F(GraphTest, NodesAreListedInPages) {
  Create();
  v1::ListNodesRequest request;
  request.set_map("paths");
  request.set_page_size(3);
  std::vector<std::string> ids;
  const Patience patience("the last page");
  do {
    const auto page = server_.client().ListNodes(request);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const v1::WaypointNodeInfo& node : page->nodes()) {
      ids.push_back(node.node().id());
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && patience.Lasts());
  EXPECT_THAT(ids, ::testing::UnorderedElementsAre("a", "b", "c", "d"));
  request.add_ids("d");
  request.add_ids("nobody");
  const auto some = server_.client().ListNodes(request);
  ASSERT_TRUE(some.ok());
  ASSERT_EQ(some->nodes_size(), 1);
  ASSERT_EQ(some->nodes(0).edges_size(), 2);
  EXPECT_EQ(some->nodes(0).edges(0).cost(), 5);
  EXPECT_TRUE(some->nodes(0).edges(0).open());
  request.set_page_size(-1);
  EXPECT_THAT(server_.client().ListNodes(request), IsRefused(kInvalid, "BAD_VALUE", "page_size"));
}

TEST_F(GraphTest, BadGraphsAreRefused) {
  const auto refused = [&](auto change) {
    v1::CreateMapRequest request = create_;
    change(*request.mutable_graph());
    return server_.client().CreateMap(request);
  };
  using G = v1::WaypointGraph;
  EXPECT_THAT(refused([](G& g) { AddEdge(g, "a", "nobody"); }),
              IsRefused(kNotFound, "NODE_NOT_FOUND", "graph.edges[4].to"));
  EXPECT_THAT(refused([](G& g) { g.add_edges(); }),
              IsRefused(kInvalid, "MISSING_FIELD", "graph.edges[4].edge"));
  EXPECT_THAT(refused([](G& g) { g.mutable_auto_connect()->set_reference_map("nowhere"); }),
              IsRefused(kNotFound, "MAP_NOT_FOUND", "graph.auto_connect.reference_map"));
  EXPECT_THAT(refused([](G& g) { g.add_obstacles()->set_id("o"); }),
              IsRefused(kInvalid, "MISSING_FIELD", "graph.obstacles[0].shape"));
  v1::CreateMapRequest both = create_;
  both.add_rows("..");
  EXPECT_THAT(server_.client().CreateMap(both), IsRefused(kInvalid, "BAD_SOURCE", "graph"));
  const auto maps = server_.client().ListMaps({});
  ASSERT_TRUE(maps.ok());
  EXPECT_THAT(maps->maps(), IsEmpty());
}

TEST_F(GraphTest, BadEditsChangeNothing) {
  Create();
  v1::UpdateObstaclesRequest request;
  request.set_map("paths");
  request.add_edits()->mutable_remove_nodes()->add_nodes("b");
  request.add_edits()->mutable_remove_nodes()->add_nodes("b");
  EXPECT_THAT(server_.client().UpdateObstacles(request),
              IsRefused(kNotFound, "NODE_NOT_FOUND", "edits[1].remove_nodes.nodes[0]"));
  v1::Edit edit;
  edit.mutable_put_nodes();
  EXPECT_THAT(Send(edit), IsRefused(kInvalid, "MISSING_FIELD", "edits[0].put_nodes.nodes"));
  edit.mutable_block()->add_cells();
  EXPECT_THAT(Send(edit), IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].block"));
  edit.mutable_put_obstacle()->mutable_obstacle()->set_id("o");
  edit.mutable_put_obstacle()->mutable_obstacle()->mutable_shape()->add_cells();
  edit.mutable_put_obstacle()->mutable_obstacle()->set_cost_factor(2);
  EXPECT_THAT(Send(edit), IsRefused(kInvalid, "BAD_EFFECT", "edits[0].put_obstacle.obstacle.cost_factor"));
  EXPECT_EQ(Path(Query("a", "c")), "a b c at 8");
  v1::GetMapRequest get;
  get.set_map("paths");
  EXPECT_EQ(server_.client().GetMap(get)->info().revision(), 1u);
}

TEST_F(GraphTest, QuestionsAboutCellsAreRefused) {
  Create();
  const client::Client& client = server_.client();
  const auto is_refused = IsRefused(kPrecondition, "WRONG_MAP_KIND", "map");
  const auto ask = [](auto request) {
    request.set_map("paths");
    return request;
  };
  v1::FindPathsRequest queries = ask(v1::FindPathsRequest());
  *queries.add_queries() = PathRequest("paths", CellAt(0, 0), CellAt(1, 0));
  EXPECT_THAT(client.FindPaths(queries), is_refused);
  v1::ComputeCostMatrixRequest matrix = ask(v1::ComputeCostMatrixRequest());
  matrix.add_sources();
  matrix.add_targets();
  EXPECT_THAT(client.ComputeCostMatrix(matrix), is_refused);
  v1::FindReachableRequest reachable = ask(v1::FindReachableRequest());
  reachable.mutable_start();
  EXPECT_THAT(client.FindReachable(reachable), is_refused);
  v1::ComputeFlowFieldRequest field = ask(v1::ComputeFlowFieldRequest());
  field.add_goals();
  EXPECT_THAT(client.ComputeFlowField(field), is_refused);
  EXPECT_THAT(client.CheckReachability(ask(v1::CheckReachabilityRequest())), is_refused);
  v1::CastRayRequest ray = ask(v1::CastRayRequest());
  ray.mutable_from();
  ray.mutable_to();
  EXPECT_THAT(client.CastRay(ray), is_refused);
  v1::SampleCellsRequest sample = ask(v1::SampleCellsRequest());
  sample.set_count(1);
  EXPECT_THAT(client.SampleCells(sample), is_refused);
  EXPECT_THAT(client.ListPortals(ask(v1::ListPortalsRequest())), is_refused);
  const absl::Status end = WatchOfPath(server_, PathRequest("paths", CellAt(0, 0), CellAt(1, 0))).End();
  EXPECT_EQ(client::ReasonOf(end), "WRONG_MAP_KIND");
  EXPECT_EQ(client::FieldOf(end), "query.map");
}

TEST_F(GraphTest, PortalsAndProfilesAreOfGrids) {
  Create();
  v1::Edit edit;
  v1::Portal& portal = *edit.mutable_put_portal()->mutable_portal();
  portal.set_id("stairs");
  portal.mutable_from();
  portal.mutable_to()->set_x(1);
  EXPECT_THAT(Send(edit), IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].put_portal"));
  edit.mutable_switch_portal()->set_id("stairs");
  EXPECT_THAT(Send(edit), IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].switch_portal"));
  edit.mutable_remove_portal()->set_id("stairs");
  EXPECT_THAT(Send(edit), IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].remove_portal"));
  edit.mutable_put_profile()->mutable_named()->set_name("tank");
  edit.mutable_put_profile()->mutable_named()->mutable_profile();
  EXPECT_THAT(Send(edit), IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].put_profile"));
  edit.mutable_remove_profile()->set_name("tank");
  EXPECT_THAT(Send(edit), IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].remove_profile"));
}

TEST_F(GraphTest, OtherKindsOfMapsAreNamed) {
  Create();
  server_.Create("cells", {"..."});
  EXPECT_THAT(server_.client().FindPath(PathRequest("paths", CellAt(0, 0), CellAt(1, 0))),
              IsRefused(kPrecondition, "WRONG_MAP_KIND", "start"));
  v1::FindPathRequest on_grid = Query("a", "b");
  on_grid.set_map("cells");
  EXPECT_THAT(server_.client().FindPath(on_grid), IsRefused(kPrecondition, "WRONG_MAP_KIND", "start_node"));
  v1::ExportMapRequest exported;
  exported.set_map("paths");
  EXPECT_THAT(server_.client().ExportMap(exported), IsRefused(kPrecondition, "WRONG_MAP_KIND", "map"));
  v1::ValidatePathRequest validated;
  validated.set_map("paths");
  validated.add_points();
  EXPECT_THAT(server_.client().ValidatePath(validated), IsRefused(kPrecondition, "WRONG_MAP_KIND", "map"));
  v1::ListNodesRequest listed;
  listed.set_map("cells");
  EXPECT_THAT(server_.client().ListNodes(listed), IsRefused(kPrecondition, "WRONG_MAP_KIND", "map"));
  v1::UpdateObstaclesRequest update = BlockRequest("cells", {CellAt(0, 0)});
  update.mutable_edits(0)->mutable_remove_nodes()->add_nodes("a");
  EXPECT_THAT(server_.client().UpdateObstacles(update),
              IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].remove_nodes"));
}

}  // namespace
}  // namespace waystar
