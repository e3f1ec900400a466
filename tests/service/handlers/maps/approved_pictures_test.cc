// Pictures of the sample maps and of what people write their first pathfinder for, compared pixel by pixel
// with those that somebody looked at and approved. `./dev approve-pictures` takes them as they are drawn now.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "tests/service/handlers/maps/pictures.h"
#include "tests/service/test_server.h"
#include "tests/testing/folders.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::PixelsOf;
using ::waystar::testing::RenderRequest;
using ::waystar::testing::TestServer;

runtime::Options WithSamples() {
  runtime::Options options;
  options.maps_dir = testing::SourceFolder() / "server/samples";
  return options;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

class ApprovedPicturesTest : public ::testing::Test {
 protected:
  void Compare(const std::string& name, v1::RenderMapRequest request) {
    request.set_max_width(720);
    request.set_max_height(720);
    const auto response = server_.client().RenderMap(request);
    ASSERT_TRUE(response.ok()) << name << ": " << response.status();
    const auto approved = testing::SourceFolder() / "tests/data/approved" / (name + ".png");
    if (std::getenv("WAYSTAR_APPROVE_PICTURES") != nullptr) {
      WriteFile(approved, response->image());
      return;
    }
    const auto expected = picture::DecodePng(ReadFile(approved));
    if (!expected.ok() || *expected != PixelsOf(*response)) {
      const auto drawn = testing::BuildFolder() / "pictures" / (name + ".png");
      WriteFile(drawn, response->image());
      ADD_FAILURE() << "look at " << drawn << ", which is not as " << approved
                    << "; ./dev approve-pictures takes all as they are now";
    }
  }

  static v1::RenderMapRequest Path(const std::string& map, const v1::Cell& start, const v1::Cell& goal) {
    v1::RenderMapRequest request = RenderRequest(map);
    *request.mutable_query() = PathRequest("", start, goal);
    return request;
  }

  static v1::RenderMapRequest Search(const std::string& map, const v1::Cell& start, const v1::Cell& goal,
                                     v1::Algorithm algorithm) {
    v1::RenderMapRequest request = Path(map, start, goal);
    request.mutable_query()->set_algorithm(algorithm);
    request.set_with_search(true);
    return request;
  }

  void Update(const v1::UpdateObstaclesRequest& update) {
    const auto updated = server_.client().UpdateObstacles(update);
    ASSERT_TRUE(updated.ok()) << updated.status();
  }

  TestServer server_{WithSamples()};
};

TEST_F(ApprovedPicturesTest, SampleMaps) {
  const auto samples = server_.client().ListMaps({});
  ASSERT_TRUE(samples.ok()) << samples.status();
  std::vector<std::string> names;
  for (const v1::MapInfo& sample : samples->maps()) {
    names.push_back(sample.map());
    Compare(sample.map(), RenderRequest(sample.map()));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("dungeon", "hex-isle", "isle", "keep", "river", "ten-by-ten",
                                            "tiles", "twenty-by-fifty", "village"));
}

TEST_F(ApprovedPicturesTest, FirstPaths) {
  Compare("ten-by-ten-path", Path("ten-by-ten", CellAt(0, 0), CellAt(7, 7)));
  Compare("river-path", Path("river", CellAt(0, 0), CellAt(25, 0)));
  Compare("twenty-by-fifty-path", Path("twenty-by-fifty", CellAt(0, 0), CellAt(19, 49)));
  Compare("village-path", Path("village", CellAt(4, 4), CellAt(26, 4)));
  Compare("hex-isle-path", Path("hex-isle", CellAt(3, 2), CellAt(12, 7)));
}

// From below the gallery to its end above that.
TEST_F(ApprovedPicturesTest, PathsOnMeshes) {
  v1::RenderMapRequest request = RenderRequest("keep");
  v1::FindPathRequest& query = *request.mutable_query();
  query.mutable_start()->mutable_position()->set_x(2);
  query.mutable_start()->mutable_position()->set_y(2);
  v1::Position& goal = *query.add_goals()->mutable_position();
  goal.set_x(2);
  goal.set_y(3);
  goal.set_z(4);
  Compare("keep-path", request);
  request.set_with_search(true);
  Compare("keep-search", request);
  request.set_with_search(false);
  request.set_oblique(true);
  Compare("keep-oblique", request);
}

TEST_F(ApprovedPicturesTest, Searches) {
  Compare("tiles-astar", Search("tiles", CellAt(0, 0), CellAt(15, 9), v1::ALGORITHM_ASTAR));
  Compare("tiles-jump-points", Search("tiles", CellAt(0, 0), CellAt(15, 9), v1::ALGORITHM_JUMP_POINT_SEARCH));
  Compare("dungeon-dijkstra", Search("dungeon", CellAt(2, 2), CellAt(45, 23), v1::ALGORITHM_DIJKSTRA));
}

TEST_F(ApprovedPicturesTest, SearchesOnGraphs) {
  v1::CreateMapRequest create;
  create.set_map("rooms");
  const std::string json = ReadFile(testing::SourceFolder() / "docs/rooms.json");
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, create.mutable_graph()).ok());
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  v1::RenderMapRequest request = RenderRequest("rooms");
  request.mutable_query()->mutable_start()->set_node("well");
  request.mutable_query()->add_goals()->set_node("vault");
  request.set_with_search(true);
  Compare("rooms-astar", request);
  request.mutable_query()->set_algorithm(v1::ALGORITHM_DIJKSTRA);
  Compare("rooms-dijkstra", request);
}

TEST_F(ApprovedPicturesTest, GraphsWithoutPositionsAreLaidOut) {
  v1::CreateMapRequest create;
  create.set_map("states");
  for (const char* name : {"idle", "walk", "run", "jump", "fall", "swim"}) {
    create.mutable_graph()->add_nodes()->set_id(name);
  }
  const auto add = [&](const char* from, const char* to, bool one_way) {
    v1::WaypointEdge& edge = *create.mutable_graph()->add_edges();
    edge.mutable_edge()->set_from(from);
    edge.mutable_edge()->set_to(to);
    edge.mutable_edge()->set_one_way(one_way);
    edge.set_cost(1);
  };
  add("idle", "walk", false);
  add("walk", "run", false);
  add("run", "jump", true);
  add("jump", "fall", true);
  add("fall", "idle", true);
  add("walk", "swim", false);
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  v1::RenderMapRequest request = RenderRequest("states");
  request.mutable_query()->mutable_start()->set_node("idle");
  request.mutable_query()->add_goals()->set_node("fall");
  request.set_with_search(true);
  Compare("states", request);
  const auto response = server_.client().RenderMap(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->placement().nodes_size(), 6);
  EXPECT_NE(response->placement().nodes(0).point().x(), response->placement().nodes(1).point().x());
}

TEST_F(ApprovedPicturesTest, ObstaclesThatAppear) {
  v1::UpdateObstaclesRequest update;
  update.set_map("tiles");
  const auto put = [&](const std::string& id) -> v1::Obstacle& {
    v1::Obstacle& obstacle = *update.add_edits()->mutable_put_obstacle()->mutable_obstacle();
    obstacle.set_id(id);
    return obstacle;
  };
  const auto add_disc = [](v1::Obstacle& obstacle, double x, double y, double radius) {
    v1::Disc& disc = *obstacle.mutable_shape()->add_discs();
    disc.mutable_center()->set_x(x);
    disc.mutable_center()->set_y(y);
    disc.set_radius(radius);
  };
  *put("crates").mutable_shape()->add_cells() = CellAt(3, 4);
  v1::Obstacle& fire = put("fire");
  add_disc(fire, 6, 7, 2.5);
  fire.set_cost_addition(8);
  fire.set_falloff(v1::FALLOFF_LINEAR);
  v1::Obstacle& mud = put("mud");
  v1::Rectangle& ditch = *mud.mutable_shape()->add_rectangles();
  ditch.set_x(9);
  ditch.set_y(0);
  ditch.set_width(2);
  ditch.set_height(4);
  mud.set_cost_factor(3);
  v1::Obstacle& gold = put("gold");
  add_disc(gold, 14, 5, 1.5);
  gold.set_cost_addition(-0.7);
  Update(update);
  Compare("tiles-obstacles", Path("tiles", CellAt(0, 0), CellAt(15, 9)));
}

TEST_F(ApprovedPicturesTest, Portals) {
  v1::UpdateObstaclesRequest update;
  update.set_map("ten-by-ten");
  v1::Portal& portal = *update.add_edits()->mutable_put_portal()->mutable_portal();
  portal.set_id("ferry");
  *portal.mutable_from() = CellAt(1, 8);
  *portal.mutable_to() = CellAt(8, 1);
  portal.set_cost(2);
  portal.set_both_ways(true);
  Update(update);
  Compare("ten-by-ten-portal", Path("ten-by-ten", CellAt(0, 9), CellAt(9, 0)));
}

TEST_F(ApprovedPicturesTest, WaypointGraphs) {
  v1::CreateMapRequest create;
  create.set_map("islands");
  v1::WaypointGraph& graph = *create.mutable_graph();
  const auto add = [&](const std::string& id, double x, double y) {
    v1::WaypointNode& node = *graph.add_nodes();
    node.set_id(id);
    node.mutable_position()->set_x(x);
    node.mutable_position()->set_y(y);
  };
  add("harbour", 0, 0);
  add("ford", 6, 0);
  add("bridge", 6, 8);
  add("lighthouse", 12, 0);
  add("cave", 13, 7);
  v1::WaypointEdge& tunnel = *graph.add_edges();
  tunnel.mutable_edge()->set_from("bridge");
  tunnel.mutable_edge()->set_to("cave");
  tunnel.mutable_edge()->set_one_way(true);
  v1::WaypointEdge& stairs = *graph.add_edges();
  stairs.mutable_edge()->set_from("lighthouse");
  stairs.mutable_edge()->set_to("cave");
  stairs.set_disabled(true);
  graph.mutable_auto_connect()->set_max_distance(10);
  v1::Obstacle& rock = *graph.add_obstacles();
  rock.set_id("rock");
  v1::Disc& disc = *rock.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(3);
  disc.mutable_center()->set_y(0.4);
  disc.set_radius(1);
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  v1::RenderMapRequest request = RenderRequest("islands");
  request.mutable_query()->mutable_start()->set_node("harbour");
  request.mutable_query()->add_goals()->set_node("lighthouse");
  Compare("islands", request);
}

}  // namespace
}  // namespace waystar
