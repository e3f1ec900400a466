// Navigation meshes through the public API: from a file to paths, pictures and images.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A corridor that turns round a wall at (4, 2), of three squares of 4 x 4, and an island.
//
//   (0,4) [ 2 ][ 1 ] (8,4)      the wall parts 0 and 2 below (4, 4)
constexpr char kCorridor[] =
    "mesh 2 12 4\n"
    "0 0 1 0\n 4 0 2 0 3\n 4 4 3 0 1 2\n 0 4 2 0 1\n 0 8 1 1\n 4 8 2 1 2\n 8 8 1 2\n 8 4 1 2\n"
    "20 0 1 3\n 24 0 1 3\n 24 4 1 3\n 20 4 1 3\n"
    "4 0 1 2 3 -1 -1 -1 1\n"
    "4 3 2 5 4 -1 0 2 -1\n"
    "4 2 7 6 5 1 -1 -1 -1\n"
    "4 8 9 10 11 -1 -1 -1 -1\n";

// The same, but wider at both ends: no two of its polygons are convex together, so that a search expands what
// it goes through.
std::string Bend() {
  return absl::StrReplaceAll(kCorridor, {{"\n0 0 1 0", "\n-1 0 1 0"}, {" 8 8 1 2", " 8 9 1 2"}});
}

// Two squares of 10 x 10 side by side.
constexpr char kCourt[] =
    "mesh\n2\n6 2\n0 0 1 0\n10 0 2 0 1\n20 0 1 1\n20 10 1 1\n10 10 2 0 1\n0 10 1 0\n"
    "4 0 1 4 5 -1 -1 1 -1\n4 1 2 3 4 0 -1 -1 -1\n";

v1::Location At(double x, double y, double z = 0) {
  v1::Location location;
  location.mutable_position()->set_x(x);
  location.mutable_position()->set_y(y);
  location.mutable_position()->set_z(z);
  return location;
}

std::string Text(const v1::Position& position) {
  return absl::StrCat(position.x(), ",", position.y(), ",", position.z());
}

// Returns the distance of a point from a convex polygon, seen from above.
double DistanceFrom(const v1::CorridorPolygon& polygon, double px, double py) {
  bool is_inside = true;
  double nearest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < polygon.corners_size(); ++i) {
    const v1::Position& from = polygon.corners(i);
    const v1::Position& to = polygon.corners((i + 1) % polygon.corners_size());
    const double x = to.x() - from.x();
    const double y = to.y() - from.y();
    const double right = px - from.x();
    const double up = py - from.y();
    const double share = std::clamp((x * right + y * up) / (x * x + y * y), 0.0, 1.0);
    is_inside &= x * up - y * right >= 0;
    nearest = std::min(nearest, std::hypot(right - share * x, up - share * y));
  }
  return is_inside ? 0.0 : nearest;
}

// Returns how many corners of one polygon are also corners of the other, seen from above.
int CountShared(const v1::CorridorPolygon& a, const v1::CorridorPolygon& b) {
  return static_cast<int>(std::ranges::count_if(a.corners(), [&](const v1::Position& corner) {
    return std::ranges::any_of(b.corners(), [&](const v1::Position& other) {
      return corner.x() == other.x() && corner.y() == other.y();
    });
  }));
}

// Returns the query that asks for everything about the polygons of a path.
v1::FindPathRequest WithPolygons(v1::FindPathRequest query) {
  query.set_with_corridor(true);
  query.set_with_surface(true);
  query.set_with_polygons(true);
  return query;
}

// Expects, of a path without portals, polygons with the numbers of its corridor, each with an edge of the
// next, and its surface in them.
void ExpectPolygons(const v1::Path& path) {
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < path.polygons_size(); ++i) {
    const v1::CorridorPolygon& polygon = path.polygons(i);
    if (numbers.empty() || numbers.back() != polygon.polygon()) {
      numbers.push_back(polygon.polygon());
    }
    if (i > 0) {
      EXPECT_GE(CountShared(path.polygons(i - 1), polygon), 2) << i;
    }
  }
  EXPECT_THAT(path.corridor(), ElementsAreArray(numbers));
  for (const v1::Position& point : path.surface()) {
    EXPECT_TRUE(std::ranges::any_of(path.polygons(), [&](const v1::CorridorPolygon& polygon) {
      return DistanceFrom(polygon, point.x(), point.y()) < 1e-6;
    })) << Text(point);
  }
}

class MeshTest : public ::testing::Test {
 protected:
  v1::MapInfo Create(const std::string& map, const std::string& data) {
    auto request = About<v1::CreateMapRequest>(map);
    request.set_data(data);
    return client().CreateMap(request).value().info();
  }
  client::Client& client() { return server_.client(); }

  struct Refusal {
    std::string change;
    absl::StatusCode code;
    const char* reason;
    std::string field;
  };
  // Expects that the call refuses the request with each of the changes.
  template <typename Request, typename Call>
  void ExpectRefused(Call call, const std::string& request, const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) {
      EXPECT_THAT(std::invoke(call, client(), Merged(Parsed<Request>(request), refusal.change)),
                  IsRefused(refusal.code, refusal.reason, refusal.field))
          << refusal.change.substr(0, 200);
    }
  }

  static v1::FindPathRequest Query(const v1::Location& start, const v1::Location& goal,
                                   const char* map = "corridor") {
    auto query = About<v1::FindPathRequest>(map);
    *query.mutable_start() = start;
    *query.add_goals() = goal;
    return query;
  }

  TestServer server_;
  const v1::MapInfo info_ = Create("corridor", kCorridor);
};

TEST_F(MeshTest, IsDescribed) {
  EXPECT_EQ(info_.kind(), v1::MAP_KIND_MESH);
  EXPECT_EQ(
      TextOf(info_.mesh()),
      "polygons: 4 vertices: 12 parts: 2 low { } high { x: 24 y: 8 } terrains { name: \"ground\" cost: 1 }");
  EXPECT_NE(info_.digest(), 0U);
}

TEST_F(MeshTest, FindsPathsRoundTheWall) {
  v1::FindPathRequest query = Query(At(2, 1), At(7, 4));
  query.set_with_corridor(true);
  query.set_with_summary(true);
  const v1::FindPathResponse answer = server_.Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.info().statistics().algorithm(), v1::ALGORITHM_POLYANYA);
  ASSERT_THAT(answer.path().positions(), SizeIs(3));
  EXPECT_EQ(Text(answer.path().positions(1)), "4,4,0");
  EXPECT_NEAR(answer.cost(), std::hypot(2, 3) + 3, 1e-12);
  EXPECT_NEAR(answer.summary().length(), answer.cost(), 1e-12);
  EXPECT_EQ(answer.summary().turns(), 1);
  EXPECT_THAT(answer.path().corridor(), ElementsAre(0, 1, 2));
  EXPECT_EQ(Text(answer.path().start().position()), "2,1,0");
  EXPECT_EQ(Text(answer.path().end().position()), "7,4,0");
  EXPECT_EQ(answer.info().version().revision(), 1);

  query.set_with_corridor(false);
  EXPECT_THAT(server_.Find(query).path().corridor(), SizeIs(0));
}

TEST_F(MeshTest, PolygonsHaveTheirCorners) {
  const v1::Path path = server_.Find(WithPolygons(Query(At(2, 1), At(7, 4)))).path();
  EXPECT_THAT(path.corridor(), ElementsAre(0, 1, 2));
  ExpectPolygons(path);
  ASSERT_THAT(path.polygons(), SizeIs(3));
  EXPECT_EQ(TextOf(path.polygons(1)),
            "polygon: 1 corners { y: 4 } corners { x: 4 y: 4 } corners { x: 4 y: 8 } corners { y: 8 }");
}

TEST_F(MeshTest, PolygonsGoRoundObstacles) {
  Create("court", kCourt);
  v1::FindPathRequest query = WithPolygons(Query(At(4, 5), At(16, 5), "court"));
  v1::Disc& disc = *query.mutable_view()->mutable_overlay()->mutable_blocked()->add_discs();
  disc.mutable_center()->set_x(10);
  disc.mutable_center()->set_y(5);
  disc.set_radius(2);
  const v1::Path path = server_.Find(query).path();
  EXPECT_THAT(path.corridor(), ElementsAre(0, 1));
  EXPECT_GT(path.polygons_size(), 2);
  ExpectPolygons(path);
  for (const v1::CorridorPolygon& polygon : path.polygons()) {
    EXPECT_GT(DistanceFrom(polygon, 10, 5), 2.0 - 1e-5);
  }
}

TEST_F(MeshTest, ReachHasTheNearestPointOfEachPolygon) {
  auto request = Parsed<v1::FindReachableRequest>(
      R"(map: "corridor" start { position { x: 2 y: 1 } } with_costs: true)");
  const auto all = client().FindReachable(request).value();
  ASSERT_THAT(all.polygons(), SizeIs(3));
  EXPECT_EQ(all.count(), 3);
  EXPECT_FALSE(all.has_bounds());
  EXPECT_EQ(all.info().version().revision(), 1);
  EXPECT_GT(all.info().statistics().expanded(), 0U);
  EXPECT_EQ(TextOf(all.polygons(0)), "nearest { x: 2 y: 1 } cost: 0");
  EXPECT_EQ(TextOf(all.polygons(1)), "polygon: 1 nearest { x: 2 y: 4 } cost: 3");
  EXPECT_EQ(Text(all.polygons(2).nearest()), "4,4,0");
  EXPECT_NEAR(all.polygons(2).cost(), std::hypot(2, 3), 1e-12);

  request.set_with_costs(false);
  request.set_max_cost(3);
  request.set_towards_start(true);
  const auto near = client().FindReachable(request).value();
  EXPECT_THAT(near.polygons(), SizeIs(2)) << "the second is exactly as far";
  EXPECT_FALSE(near.polygons(1).has_cost());

  // The polygon beyond is not wholly in the region.
  request.clear_max_cost();
  *request.mutable_region() = RectangleAt(0, 0, 4, 7);
  EXPECT_THAT(client().FindReachable(request)->polygons(), SizeIs(1));
}

TEST_F(MeshTest, FlowsLeadToTheNearestGoal) {
  auto request = Parsed<v1::ComputeFlowFieldRequest>(R"(
    map: "corridor" with_costs: true
    goals { position { x: 2 y: 1 } } goals { position { x: -9 y: -9 } })");
  const auto flow = client().ComputeFlowField(request).value();
  EXPECT_FALSE(flow.has_region());
  EXPECT_EQ(flow.info().version().revision(), 1);
  ASSERT_THAT(flow.polygons(), SizeIs(3));
  EXPECT_EQ(TextOf(flow.polygons(0)), "middle { x: 2 y: 2 } next { x: 2 y: 1 } cost: 1");
  EXPECT_EQ(flow.polygons(2).polygon(), 2U);
  EXPECT_EQ(flow.polygons(2).middle().x(), 6);
  EXPECT_EQ(Text(flow.polygons(2).next()), "4,4,0") << "at the end of the wall";
  EXPECT_NEAR(flow.polygons(2).cost(), 2 * std::sqrt(2) + std::hypot(2, 3), 1e-12);

  *request.add_goals() = At(21, 1);
  EXPECT_THAT(client().ComputeFlowField(request)->polygons(), SizeIs(4));
  request.set_with_costs(false);
  request.set_max_cost(0.5);
  EXPECT_THAT(client().ComputeFlowField(request)->polygons(), SizeIs(0));
}

TEST_F(MeshTest, FlowsThatTakeMoreThanAMessageAreRefused) {
  TestServer small({.max_message_bytes = 4096});
  auto create = About<v1::CreateMapRequest>("strip");
  for (int i = 0; i <= 100; ++i) {
    absl::StrAppend(create.mutable_data(), "v ", i, " 0 0\nv ", i, " 0 1\n");
  }
  for (int i = 1; i <= 200; i += 2) {
    absl::StrAppend(create.mutable_data(), "f ", i, " ", i + 1, " ", i + 3, " ", i + 2, "\n");
  }
  const auto created = small.client().CreateMap(create).value();
  auto request = About<v1::ComputeFlowFieldRequest>("strip");
  *request.add_goals() = At(0.5, 0.5);
  request.set_with_costs(true);
  EXPECT_THAT(small.client().ComputeFlowField(request),
              IsRefused(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE", "region"));
  request.set_max_cost(49);
  const auto half = small.client().ComputeFlowField(request).value();
  EXPECT_THAT(half.polygons(), SizeIs(50));
}

TEST_F(MeshTest, BadQuestionsAreRefused) {
  constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
  constexpr char kStart[] = "map: 'corridor' start { position { x: 2 y: 1 } }";
  ExpectRefused<v1::ComputeCostMatrixRequest>(
      &client::Client::ComputeCostMatrix, "map: 'corridor' starts { position { x: 2 y: 1 } }",
      {{"", kInvalid, "MISSING_FIELD", "goals"},
       {"goals { position {} } goals { node: 'a' }", kPrecondition, "WRONG_MAP_KIND", "goals[1].node"}});
  ExpectRefused<v1::FindReachableRequest>(&client::Client::FindReachable, "map: 'corridor'",
                                          {{"", kInvalid, "MISSING_FIELD", "start"}});
  ExpectRefused<v1::ExplainPathRequest>(
      &client::Client::ExplainPath, "map: 'corridor' goal { position { x: 7 y: 6 } }",
      {{"start { position { x: 100 y: 6 } }", kPrecondition, "START_BLOCKED", "start"}});
  ExpectRefused<v1::FindReachableRequest>(
      &client::Client::FindReachable, kStart,
      {{"start { position { x: -9 y: -9 } }", kPrecondition, "START_BLOCKED", "start"},
       {"start { position { y: 7 } } region { width: 4 height: 7 }", kInvalid, "BAD_VALUE", "start"},
       {"start { node: 'a' }", kPrecondition, "WRONG_MAP_KIND", "start.node"},
       {"region { width: 4 }", kInvalid, "BAD_RECTANGLE", "region.height"},
       {"max_cost: -1", kInvalid, "BAD_VALUE", "max_cost"}});
  std::string many_goals;
  std::string many_cells;
  for (int i = 0; i <= 1000; ++i) {
    many_goals += "goals {} ";
    many_cells += "cells {} ";
  }
  ExpectRefused<v1::ComputeFlowFieldRequest>(
      &client::Client::ComputeFlowField, "map: 'corridor'",
      {{"", kInvalid, "MISSING_FIELD", "goals"},
       {"goals { position { x: -9 y: -9 } }", kPrecondition, "GOAL_BLOCKED", "goals"},
       {"goals { position { x: 1 y: 1 } } goals { position { x: 7 y: 7 } } region { width: 4 height: 8 }",
        kInvalid, "BAD_VALUE", "goals[1]"},
       {many_goals, kExhausted, "TOO_MANY_ITEMS", "goals"}});
  ExpectRefused<v1::SamplePlacesRequest>(
      &client::Client::SamplePlaces, "map: 'corridor' count: 1",
      {{"distinct: true", kPrecondition, "WRONG_MAP_KIND", "distinct"},
       {"reachable_from { position { x: -9 y: -9 } }", kPrecondition, "START_BLOCKED", "reachable_from"}});
  ExpectRefused<v1::ValidatePathsRequest>(
      &client::Client::ValidatePaths, "map: 'corridor'",
      {{"", kInvalid, "MISSING_FIELD", "paths"},
       {"paths {}", kInvalid, "MISSING_FIELD", "paths[0].positions"},
       {"paths { positions { x: 2 y: 1 } positions { z: inf } }", kInvalid, "BAD_VALUE",
        "paths[0].positions[1].z"},
       {"paths { points {} }", kPrecondition, "WRONG_MAP_KIND", "paths[0].points"},
       {"paths { directions: DIRECTION_EAST }", kPrecondition, "WRONG_MAP_KIND", "paths[0].directions"},
       {"paths { nodes: 'a' }", kPrecondition, "WRONG_MAP_KIND", "paths[0].nodes"},
       {"paths { form: PATH_FORM_CORNERS }", kPrecondition, "WRONG_MAP_KIND", "paths[0].form"},
       {"agent { footprint: 2 }", kPrecondition, "WRONG_MAP_KIND", "agent.footprint"}});
  std::vector<Refusal> probes = {
      {"probes {}", kInvalid, "MISSING_FIELD", "probes[1].position"},
      {"probes { position { y: nan } }", kInvalid, "BAD_VALUE", "probes[1].position.y"},
      {"probes { position {} move_to { x: 1e9 } }", kInvalid, "BAD_VALUE", "probes[1].move_to.x"},
      {"probes { position {} ray_to { z: nan } }", kInvalid, "BAD_VALUE", "probes[1].ray_to.z"}};
  for (const std::string radius : {"0", "-1", "nan", "inf"}) {
    probes.push_back({"probes { position { x: 1 y: 1 } wall_within: " + radius + " }", kInvalid, "BAD_VALUE",
                      "probes[1].wall_within"});
  }
  ExpectRefused<v1::ProbeSurfaceRequest>(&client::Client::ProbeSurface,
                                         "map: 'corridor' probes { position { x: 1 y: 1 } }", probes);
  ExpectRefused<v1::ProbeSurfaceRequest>(&client::Client::ProbeSurface, "map: 'corridor'",
                                         {{"", kInvalid, "MISSING_FIELD", "probes"}});
  const auto wrong_kind = [](const std::string& change, const std::string& field) {
    return Refusal{change, kPrecondition, "WRONG_MAP_KIND", field};
  };
  ExpectRefused<v1::FindPathRequest>(
      &client::Client::FindPath, absl::StrCat(kStart, " goals { position { x: 2 y: 7 } }"),
      {{"agent { radius: 0.5 }", kInvalid, "BAD_VALUE", "agent.radius"},
       {"agent { radius: -1 }", kInvalid, "BAD_VALUE", "agent.radius"},
       {"agent { radius: nan }", kInvalid, "BAD_VALUE", "agent.radius"},
       {"tolerance: -0.1", kInvalid, "BAD_VALUE", "tolerance"},
       wrong_kind("start { node: 'a' }", "start.node"),
       wrong_kind("goals { cell { x: 1 } }", "goals[1].cell"),
       wrong_kind("view { overlay { blocked_nodes: 'a' } }", "view.overlay.blocked_nodes"),
       wrong_kind("view { overlay { blocked_edges { from: 'a' } } }", "view.overlay.blocked_edges"),
       {"view { overlay { blocked { discs { center { x: 1 } radius: -1 } } } }", kInvalid, "BAD_DISC",
        "view.overlay.blocked.discs[0].radius"},
       {"view { overlay { blocked { polygons {"
        "  vertices {} vertices { x: 2 y: 2 } vertices { x: 2 } vertices { y: 2 } } } } }",
        kInvalid, "BAD_POLYGON", "view.overlay.blocked.polygons[0]"},
       {"view { overlay { blocked_heights { low: nan } } }", kInvalid, "BAD_VALUE",
        "view.overlay.blocked_heights.low"},
       {"view { overlay { ignored_obstacles: '' } }", kInvalid, "BAD_OBSTACLE_ID",
        "view.overlay.ignored_obstacles[0]"},
       {"view { overlay { blocked { " + many_cells + " } } }", kExhausted, "BATCH_TOO_LARGE",
        "view.overlay.blocked"},
       {"snap { radius: 1 height: -1 }", kInvalid, "BAD_VALUE", "snap.height"},
       {"start { position { z: 9 } } snap { radius: 1 height: 8 }", kPrecondition, "START_BLOCKED",
        "start"}});
  server_.Create("room", {"...", "..."});
  ExpectRefused<v1::FindPathRequest>(
      &client::Client::FindPath, "map: 'room' start { cell {} } goals { cell { x: 2 y: 1 } }",
      {wrong_kind("with_corridor: true", "with_corridor"),
       wrong_kind("with_surface: true", "with_surface"),
       wrong_kind("with_polygons: true", "with_polygons"),
       wrong_kind("agent { radius: 0.5 }", "agent.radius"),
       wrong_kind("snap { radius: 1 height: 1 }", "snap.height"),
       wrong_kind("view { overlay { blocked_heights { high: 1 } } }", "view.overlay.blocked_heights"),
       {"algorithm: ALGORITHM_POLYANYA", kPrecondition, "ALGORITHM_UNSUITED", "algorithm"}});
  ExpectRefused<v1::UpdateMapRequest>(
      &client::Client::UpdateMap, "map: 'corridor'",
      {wrong_kind("edits { block { cells { x: 1 y: 1 } } }", "edits[0].block"),
       {"edits { put_obstacle { id: 'a' shape { cells {} } heights { low: 2 high: 1 } } }", kInvalid,
        "BAD_VALUE", "edits[0].put_obstacle.heights.low"},
       {"edits { put_obstacle { id: 'a' shape { cells {} } cost_factor: 2 } }", kInvalid, "BAD_EFFECT",
        "edits[0].put_obstacle.cost_factor"}});
  ExpectRefused<v1::UpdateMapRequest>(
      &client::Client::UpdateMap, "map: 'room'",
      {wrong_kind("edits { put_obstacle { id: 'a' shape { cells {} } heights {} } }",
                  "edits[0].put_obstacle")});
}

TEST_F(MeshTest, ObstaclesBlockUntilTheyAreRemoved) {
  const auto update = [&](const std::string& edits) {
    return client().UpdateMap(Parsed<v1::UpdateMapRequest>("map: 'corridor' " + edits)).value();
  };
  const auto length = [&] { return server_.Find(Query(At(2, 1), At(7, 4))).cost(); };
  const double free = length();
  const auto before = update(
      "edits { add_obstacle { id: 'crate' shape { discs { center { x: 5 y: 4 } radius: 0.5 } } "
      "heights { low: -1 high: 1 } lifetime { seconds: 9000 } } }");
  EXPECT_EQ(before.version().revision(), 2U);
  EXPECT_GT(length(), free);
  const v1::ListObstaclesResponse list =
      client().ListObstacles(Parsed<v1::ListObstaclesRequest>("map: 'corridor'")).value();
  ASSERT_EQ(list.obstacles_size(), 1);
  EXPECT_EQ(list.obstacles(0).id(), "crate");
  EXPECT_EQ(list.obstacles(0).heights().high(), 1.0);
  EXPECT_GT(list.obstacles(0).lifetime().seconds(), 8000);
  const auto in_region =
      Parsed<v1::ListObstaclesRequest>("map: 'corridor' region { x: 9 width: 2 height: 2 }");
  EXPECT_EQ(client().ListObstacles(in_region).value().obstacles_size(), 0);
  v1::FindPathRequest through = Query(At(2, 1), At(7, 4));
  through.mutable_view()->mutable_overlay()->add_ignored_obstacles("crate");
  EXPECT_EQ(server_.Find(through).cost(), free);
  update("edits { remove_obstacle: 'crate' }");
  EXPECT_EQ(length(), free);
}

TEST_F(MeshTest, AFoundPathIsValid) {
  const v1::FindPathResponse found = server_.Find(Query(At(2, 1), At(7, 4)));
  auto request = About<v1::ValidatePathsRequest>("corridor");
  v1::Path& path = *request.add_paths();
  path = found.path();
  const auto answer = client().ValidatePaths(request).value();
  EXPECT_TRUE(answer.results(0).walkable());
  EXPECT_FALSE(answer.results(0).has_blocked_at());
  EXPECT_TRUE(answer.info().has_statistics());

  // Through the wall instead of round its end.
  path.mutable_positions(1)->set_y(3);
  *path.mutable_positions(2) = At(7, 3).position();
  const auto blocked = client().ValidatePaths(request).value().results(0);
  EXPECT_FALSE(blocked.walkable());
  EXPECT_EQ(blocked.blocked_index(), 2);
  EXPECT_EQ(Text(blocked.blocked_at().position()), "4,3,0");
  EXPECT_NEAR(blocked.cost(), std::hypot(2, 2), 1e-12);
}

v1::Position PositionAt(double x, double y, double z = 0) { return At(x, y, z).position(); }

TEST_F(MeshTest, ProbesTellOfTheSurface) {
  // The wall from (4, 0) to (4, 4) is on the right.
  auto request = Parsed<v1::ProbeSurfaceRequest>(R"(
    map: "corridor"
    probes { position { x: 3 y: 1 z: 7 } }
    probes { position { x: 3 y: 1 } move_to { x: 5 y: 2 } }
    probes { position { x: 3 y: 1 } ray_to { x: 5 y: 2 } }
    probes { position { x: 3.5 y: 2 } wall_within: 1 }
    probes { position { x: 3.5 y: 2 } wall_within: 0.25 }
    probes { position { x: -1 y: 1 } }
    probes { position { x: 3 y: 5 } move_to { x: 5 y: 6 } })");
  const auto answer = client().ProbeSurface(request).value();
  EXPECT_EQ(answer.info().version().revision(), 1u);
  ASSERT_THAT(answer.results(), SizeIs(7));
  const auto expect = [&](int index, const std::string& end, bool is_blocked, double distance) {
    const v1::SurfaceResult& result = answer.results(index);
    EXPECT_TRUE(result.found()) << index;
    EXPECT_EQ(Text(result.end()), end) << index;
    EXPECT_EQ(result.blocked(), is_blocked) << index;
    EXPECT_EQ(result.has_wall_normal(), is_blocked) << index;
    EXPECT_EQ(TextOf(result.wall_normal()), is_blocked ? "x: -1" : "") << index;
    EXPECT_DOUBLE_EQ(result.distance(), distance) << index;
  };
  expect(0, "3,1,0", false, 0);
  expect(1, "4,2,0", true, std::hypot(1, 1));
  expect(2, "4,1.5,0", true, std::hypot(1, 0.5));
  expect(3, "4,2,0", true, 0.5);
  expect(4, "3.5,2,0", false, 0);
  EXPECT_FALSE(answer.results(5).found());
  EXPECT_FALSE(answer.results(5).has_start());
  expect(6, "5,6,0", false, std::hypot(2, 1));
  EXPECT_EQ(answer.results(6).polygon(), 2u);

  // With a snap there is a place for the position off the mesh.
  request.mutable_snap()->set_radius(2);
  EXPECT_EQ(Text(client().ProbeSurface(request)->results(5).start()), "0,1,0");
}

TEST_F(MeshTest, ManyProbesAreAnsweredAsOneIs) {
  auto request = About<v1::ProbeSurfaceRequest>("corridor");
  for (int i = 0; i < 10'000; ++i) {
    v1::SurfaceProbe& probe = *request.add_probes();
    *probe.mutable_position() = PositionAt(i % 4, i % 3);
    *probe.mutable_move_to() = PositionAt(i % 5, i % 7);
  }
  const auto answer = client().ProbeSurface(request).value();
  ASSERT_THAT(answer.results(), SizeIs(10'000));
  for (const int i : {0, 17, 4'711, 9'999}) {
    auto one = About<v1::ProbeSurfaceRequest>("corridor");
    *one.add_probes() = request.probes(i);
    const auto alone = client().ProbeSurface(one).value();
    EXPECT_EQ(alone.results(0).SerializeAsString(), answer.results(i).SerializeAsString()) << i;
  }
  *request.add_probes() = request.probes(0);
  EXPECT_THAT(client().ProbeSurface(request),
              IsRefused(absl::StatusCode::kResourceExhausted, "TOO_MANY_ITEMS", "probes"));
}

TEST_F(MeshTest, OverlaysBlockAreas) {
  Create("court", kCourt);
  v1::FindPathRequest query = Query(At(4, 5), At(16, 5), "court");
  query.set_with_corridor(true);
  const auto plain = client().FindPath(query).value();
  EXPECT_EQ(plain.cost(), 12);

  v1::Overlay& overlay = *query.mutable_view()->mutable_overlay();
  *overlay.mutable_blocked()->add_rectangles() = RectangleAt(8, 2, 4, 6);
  overlay.add_ignored_obstacles("mine");
  const auto around = client().FindPath(query).value();
  EXPECT_NEAR(around.cost(), 10.0 + 4.0, 1e-9);
  EXPECT_THAT(around.path().corridor(), ElementsAre(0, 1))
      << "the pieces of the two polygons bear their numbers";

  overlay.mutable_blocked_heights()->set_low(1.0);
  const auto elsewhere = client().FindPath(query).value();
  EXPECT_EQ(elsewhere.cost(), 12) << "the court lies below these heights";

  overlay.clear_blocked_heights();
  *overlay.mutable_blocked()->add_rectangles() = RectangleAt(-1, -1, 30, 30);
  EXPECT_THAT(client().FindPath(query), IsRefused(kPrecondition, "START_BLOCKED", "start"));

  auto ray = About<v1::CastRayRequest>("court");
  *ray.mutable_from() = At(4, 5);
  *ray.mutable_to() = At(16, 5);
  *ray.mutable_view()->mutable_overlay()->mutable_blocked()->add_rectangles() = RectangleAt(8, 2, 4, 6);
  const auto hit = client().CastRay(ray).value();
  EXPECT_TRUE(hit.blocked());
  EXPECT_EQ(hit.position().x(), 8);
}

TEST_F(MeshTest, ASnapReachesItsHeight) {
  v1::FindPathRequest query = Query(At(2, 1, 9), At(2, 7));
  query.mutable_snap()->set_radius(1);
  query.mutable_snap()->set_height(9);
  EXPECT_EQ(server_.Find(query).outcome(), v1::OUTCOME_FOUND);
}

TEST_F(MeshTest, TracesNameIntervals) {
  Create("bend", Bend());
  v1::TraceSearchRequest request;
  *request.mutable_query() = Query(At(2, 1), At(7, 5), "bend");
  std::vector<v1::SearchEvent> events;
  const auto result =
      client().TraceSearch(request, [&](const v1::SearchEvent& event) { events.push_back(event); }).value();
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(TextOf(events[0].interval()),
            "id: 1 polygon: 1 left { y: 4 } right { x: 4 y: 4 } root { x: 2 y: 1 }");
  EXPECT_EQ(events[0].kind(), v1::SearchEvent::KIND_GENERATED);
  EXPECT_EQ(events[0].g(), 0);
  EXPECT_NEAR(events[0].f(), std::hypot(2, 3) + std::hypot(3, 1), 1e-12);
  EXPECT_FALSE(events[0].has_cell());
  EXPECT_EQ(events[1].kind(), v1::SearchEvent::KIND_EXPANDED);
  EXPECT_EQ(events[1].interval().id(), 1);
  EXPECT_FALSE(events[1].interval().has_left());
  EXPECT_FALSE(events[1].interval().has_root());
  EXPECT_EQ(events[1].f(), events[0].f());
  // It is seen from the corner of the wall.
  EXPECT_EQ(events[2].kind(), v1::SearchEvent::KIND_GENERATED);
  EXPECT_EQ(events[2].interval().id(), 2);
  EXPECT_EQ(events[2].interval().parent(), 1);
  EXPECT_EQ(events[2].interval().polygon(), 2);
  EXPECT_NEAR(events[2].f(), result.answer().cost(), 1e-12);
  EXPECT_EQ(result.answer().cost(), server_.Find(request.query()).cost());
  EXPECT_EQ(result.answer().info().statistics().expanded(), 1);
  EXPECT_FALSE(result.truncated());
}

TEST_F(MeshTest, AxesSayWhichWayIsUp) {
  auto request = About<v1::CreateMapRequest>("ramp");
  request.set_data("v 0 0 0\nv 4 3 0\nv 4 3 2\nv 0 0 2\nf 1 2 3 4\n");
  request.mutable_import_options()->set_axes(v1::MESH_AXES_Y_UP);
  const auto created = client().CreateMap(request).value();
  EXPECT_EQ(created.info().mesh().high().y(), 2);
  EXPECT_EQ(created.info().mesh().high().z(), 3);
  v1::FindPathRequest query = Query(At(0, 1, 0), At(4, 1, 3));
  query.set_map("ramp");
  query.set_with_summary(true);
  const v1::FindPathResponse answer = server_.Find(query);
  EXPECT_EQ(answer.cost(), 4) << "seen from above";
  EXPECT_EQ(answer.summary().length(), 5) << "in space";
  request.set_map("ramp-2");
  request.set_data(kCorridor);
  EXPECT_THAT(client().CreateMap(request), IsRefused(kInvalid, "BAD_VALUE", "import_options.axes"));
  request.mutable_import_options()->set_axes(static_cast<v1::MeshAxes>(9));
  EXPECT_THAT(client().CreateMap(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "import_options.axes"));
}

TEST_F(MeshTest, BuildsMeshesOfLevels) {
  // A floor, and above its middle a slab that is too low to walk under.
  auto request = About<v1::CreateMapRequest>("level");
  request.set_data(
      "v 0 0 0\nv 0 0 20\nv 20 0 20\nv 20 0 0\nf 1 2 3 4\n"
      "v 8 1.5 -1\nv 8 1.5 16\nv 12 1.5 16\nv 12 1.5 -1\nf 5 6 7 8\n");
  v1::MeshBuild& build = *request.mutable_import_options()->mutable_build();
  build.set_agent_height(2);
  ASSERT_THAT(client().CreateMap(request), IsOk());
  v1::FindPathRequest query = Query(At(4, 4, 0), At(16, 4, 0));
  query.set_map("level");
  EXPECT_GT(server_.Find(query).cost(), 25.0) << "round the slab";
  request.set_map("low");
  build.set_agent_height(1);
  ASSERT_THAT(client().CreateMap(request), IsOk());
  query.set_map("low");
  EXPECT_NEAR(server_.Find(query).cost(), 12.0, 1e-3) << "below it";

  constexpr char kTriangle[] = "v 0 0 0\nv 0 0 8\nv 8 0 8\nf 1 2 3\n";
  const auto refusal = [&](const std::string& options, const std::string& data) {
    auto bad = About<v1::CreateMapRequest>("bad");
    *bad.mutable_import_options() = Parsed<v1::ImportOptions>(options);
    bad.set_data(data);
    return client().CreateMap(bad);
  };
  EXPECT_THAT(refusal("build { agent_radius: -1 }", request.data()),
              IsRefused(kInvalid, "BAD_VALUE", "import_options.build.agent_radius"));
  auto header = About<v1::ImportMapHeader>("bad");
  header.mutable_import_options()->mutable_build()->set_agent_radius(-1);
  EXPECT_THAT(client().ImportMap(header, request.data()),
              IsRefused(kInvalid, "BAD_VALUE", "header.import_options.build.agent_radius"));
  EXPECT_THAT(refusal("build { agent_radius: 5 cell_size: 1 }", kTriangle),
              IsRefused(kInvalid, "BAD_SIZE", "data"));
  EXPECT_THAT(refusal("build {}", kCorridor), IsRefused(kInvalid, "BAD_VALUE", "import_options.build"));
  EXPECT_THAT(refusal("", "glTF...."), IsRefused(kInvalid, "BAD_FORMAT", "data"));
  // A ready mesh is not built.
  EXPECT_THAT(refusal("weld: 0.1 build {}", kTriangle),
              IsRefused(kInvalid, "BAD_VALUE", "import_options.weld"));
  for (const char* radius : {"-1", "1001", "nan"}) {
    EXPECT_THAT(refusal(absl::StrCat("agent_radius: ", radius), kTriangle),
                IsRefused(kInvalid, "BAD_VALUE", "import_options.agent_radius"));
  }
  EXPECT_THAT(refusal("agent_radius: 1", "...\n..."),
              IsRefused(kInvalid, "BAD_VALUE", "import_options.agent_radius"));
  EXPECT_THAT(refusal("weld: 0.1", kTriangle), IsOk());
}

TEST_F(MeshTest, BlockedAreasAreWidenedByTheRadiusOfTheAgents) {
  auto request = About<v1::CreateMapRequest>("floor");
  request.set_data("v 0 0 0\nv 0 0 20\nv 20 0 20\nv 20 0 0\nf 1 2 3 4\n");
  const auto left_of_crate = [&](const std::string& map, const std::string& options) {
    request.set_map(map);
    *request.mutable_import_options() = Parsed<v1::ImportOptions>(options);
    EXPECT_THAT(client().CreateMap(request), IsOk());
    v1::FindPathRequest query = Query(At(2, 9.5, 0), At(18, 9.5, 0));
    query.set_map(map);
    *query.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = Parsed<v1::Cell>("x: 9 y: 9");
    return server_.Find(query).cost();
  };
  const double unwidened = left_of_crate("ready", "");
  EXPECT_GT(left_of_crate("wide", "agent_radius: 0.6"), unwidened + 0.01);
  const double built = left_of_crate("built", "build { agent_radius: 1 }");
  EXPECT_GT(built, left_of_crate("narrow", "agent_radius: 0 build { agent_radius: 1 }") + 0.01);
  const auto info = client().GetMap(About<v1::GetMapRequest>("built")).value();
  EXPECT_EQ(info.info().mesh().agent_radius(), 1.0);
}

TEST_F(MeshTest, BadFilesAreRefused) {
  auto request = About<v1::CreateMapRequest>("bad");
  request.set_data("mesh 2 3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7 -1 -1 -1\n");
  EXPECT_THAT(client().CreateMap(request), IsRefused(kInvalid, "BAD_FORMAT", "data"));
  request.set_data(kCorridor);
  request.mutable_grid()->set_cell_size(2);
  EXPECT_THAT(client().CreateMap(request), IsRefused(kInvalid, "BAD_SOURCE", "grid"));
}

class MeshPortalTest : public MeshTest {
 protected:
  absl::StatusOr<v1::UpdateMapResponse> Put(const std::string& map, const v1::Portal& portal) {
    auto update = About<v1::UpdateMapRequest>(map);
    *update.add_edits()->mutable_add_portal() = portal;
    return client().UpdateMap(update);
  }
  static v1::Portal Portal(const std::string& id, const v1::Location& from, const v1::Location& to) {
    v1::Portal portal;
    portal.set_id(id);
    *portal.mutable_from_position() = from.position();
    *portal.mutable_to_position() = to.position();
    return portal;
  }

  // Lays stairs from the corridor to the attic, and returns a query that takes them.
  v1::FindPathRequest QueryUpstairs() {
    v1::Portal stairs = Portal("stairs", At(1, 1), At(7, 6));
    stairs.set_to_map("attic");
    EXPECT_THAT(Put("corridor", stairs), IsOk());
    v1::FindPathRequest query = Query(At(1, 3), At(7, 7));
    query.set_goal_map("attic");
    return query;
  }
};

// Maps of a floor with a slab across it that is too low to walk under: "human" and "troll" for agents of
// radius 0.4 and 1.5, and "yard" for both.
class MeshSizesTest : public MeshPortalTest {
 protected:
  static constexpr char kHuman[] = "build { agent_radius: 0.4 agent_height: 1.8 }";
  static constexpr char kLargerTroll[] = " larger_builds { agent_radius: 1.5 agent_height: 3 }";

  MeshSizesTest() {
    EXPECT_THAT(Build("human", kHuman), IsOk());
    EXPECT_THAT(Build("troll", "build { agent_radius: 1.5 agent_height: 3 }"), IsOk());
    EXPECT_THAT(Build("yard", absl::StrCat(kHuman, kLargerTroll)), IsOk());
  }

  absl::StatusOr<v1::CreateMapResponse> Build(const std::string& map, const std::string& options) {
    auto request = About<v1::CreateMapRequest>(map);
    *request.mutable_import_options() = Parsed<v1::ImportOptions>(options);
    request.set_data(
        "v 0 0 0\nv 0 0 20\nv 20 0 20\nv 20 0 0\nf 1 2 3 4\n"
        "v 9 1.5 0\nv 9 1.5 15\nv 11 1.5 15\nv 11 1.5 0\nf 5 6 7 8\n");
    return client().CreateMap(request);
  }

  static v1::FindPathRequest Round(const std::string& map, double radius) {
    v1::FindPathRequest query = Query(At(4, 4), At(16, 4));
    query.set_map(map);
    query.mutable_agent()->set_radius(radius);
    return query;
  }
};

TEST_F(MeshSizesTest, AnswersAreThoseOfMapsForOneSize) {
  for (const char* map : {"human", "troll", "yard"}) {
    auto update = Parsed<v1::UpdateMapRequest>(
        "edits { put_obstacle { id: 'crate' shape { discs { center { x: 4 y: 9 } radius: 1 } } } }");
    update.set_map(map);
    ASSERT_THAT(client().UpdateMap(update), IsOk());
  }
  auto exported = About<v1::ExportMapRequest>("yard");
  exported.set_format(v1::MAP_FORMAT_WAYSTAR);
  Create("copy", client().ExportMap(exported)->bytes);
  const auto explain = [&](const std::string& map, double radius) {
    auto request = Parsed<v1::ExplainPathRequest>(
        "start { position { x: 4 y: 4 } } goal { position { x: 4 y: 9 } } price: 1");
    request.set_map(map);
    request.mutable_agent()->set_radius(radius);
    return TextOf(client().ExplainPath(request)->path());
  };
  for (const auto& [radius, alone] :
       {std::pair(0.0, "human"), {0.4, "human"}, {0.5, "troll"}, {1.5, "troll"}}) {
    const std::string expected = TextOf(server_.Find(WithPolygons(Round(alone, 0))).path());
    EXPECT_EQ(TextOf(server_.Find(WithPolygons(Round("yard", radius))).path()), expected) << radius;
    EXPECT_EQ(TextOf(server_.Find(WithPolygons(Round("copy", radius))).path()), expected) << radius;
    EXPECT_EQ(explain("yard", radius), explain(alone, 0)) << radius;
  }
  const auto refused = client().FindPath(Round("yard", 1.6));
  EXPECT_THAT(refused, IsRefused(kInvalid, "BAD_VALUE", "agent.radius"));
  EXPECT_THAT(refused.status().message(), HasSubstr("0.4, 1.5"));
}

TEST_F(MeshSizesTest, InfoListsTheSurfaces) {
  const auto info = [&](const std::string& map) {
    return client().GetMap(About<v1::GetMapRequest>(map))->info().mesh();
  };
  const v1::MeshInfo yard = info("yard");
  const v1::MeshInfo troll = info("troll");
  EXPECT_EQ(yard.agent_radius(), 0.4);
  EXPECT_EQ(yard.polygons(), info("human").polygons());
  ASSERT_THAT(yard.larger_surfaces(), SizeIs(1));
  EXPECT_EQ(yard.larger_surfaces(0).radius(), 1.5);
  EXPECT_EQ(yard.larger_surfaces(0).polygons(), troll.polygons());
  EXPECT_EQ(yard.larger_surfaces(0).vertices(), troll.vertices());
  EXPECT_EQ(yard.larger_surfaces(0).parts(), troll.parts());
  EXPECT_THAT(troll.larger_surfaces(), SizeIs(0));
}

TEST_F(MeshSizesTest, ProfilesMayNameTerrainsOfOtherSurfaces) {
  // The gate of mud is too narrow for trolls.
  auto request = About<v1::CreateMapRequest>("gate");
  *request.mutable_import_options() = Parsed<v1::ImportOptions>(absl::StrCat(kHuman, kLargerTroll));
  request.set_data(
      "usemtl grass\nv 0 0 0\nv 0 0 20\nv 9 0 20\nv 9 0 0\nf 1 2 3 4\n"
      "usemtl mud\nv 9 0 9\nv 9 0 11\nv 11 0 11\nv 11 0 9\nf 5 6 7 8\n"
      "usemtl grass\nv 11 0 0\nv 11 0 20\nv 20 0 20\nv 20 0 0\nf 9 10 11 12\n");
  ASSERT_THAT(client().CreateMap(request), IsOk());
  const auto outcome = [&](double radius, const std::string& forbidden) {
    v1::FindPathRequest query = Round("gate", radius);
    if (!forbidden.empty()) {
      query.mutable_agent()->mutable_profile()->add_forbidden_terrains(forbidden);
    }
    const auto answer = client().FindPath(query);
    return answer.ok() ? v1::Outcome_Name(answer->outcome()) : std::string(answer.status().message());
  };
  EXPECT_EQ(outcome(0.4, ""), "OUTCOME_FOUND");
  EXPECT_EQ(outcome(0.4, "mud"), "OUTCOME_UNREACHABLE");
  EXPECT_EQ(outcome(1.5, "mud"), "OUTCOME_UNREACHABLE");
  EXPECT_THAT(outcome(1.5, "grass"), HasSubstr("no surface")) << "all ground of trolls is of grass";
  EXPECT_THAT(outcome(1.5, "lava"), HasSubstr("terrains are"));
}

TEST_F(MeshTest, ProfilesArePutAndListed) {
  const auto put = [&](const std::string& profile) {
    return client().UpdateMap(Parsed<v1::UpdateMapRequest>(
        absl::StrCat("map: 'corridor' edits { put_profile { name: 'cart' profile {", profile, "} } }")));
  };
  const std::string field = "edits[0].put_profile.profile.";
  EXPECT_THAT(put("forbidden_terrains: 'lava'"),
              IsRefused(kInvalid, "UNKNOWN_TERRAIN", field + "forbidden_terrains[0]"));
  EXPECT_THAT(put("footprint: 2"),
              IsRefused(absl::StatusCode::kFailedPrecondition, "WRONG_MAP_KIND", field + "footprint"));
  const std::string cart =
      "terrain_costs { terrain: 'ground' cost: 2 } ground_tags: 'a' forbidden_ground_tags: 'b'";
  EXPECT_THAT(put(cart), IsRefused(kInvalid, "BAD_PROFILE", field + "forbidden_terrains"));
  ASSERT_THAT(put("terrain_costs { terrain: 'ground' cost: 2 }"), IsOk());
  const v1::MapInfo info = client().GetMap(About<v1::GetMapRequest>("corridor"))->info();
  ASSERT_THAT(info.mesh().profiles(), SizeIs(1));
  EXPECT_EQ(info.mesh().profiles(0).profile().terrain_costs(0).terrain(), "ground");
  v1::FindPathRequest query = Query(At(1, 1), At(1, 3));
  query.mutable_agent()->set_profile_name("cart");
  EXPECT_EQ(server_.Find(query).cost(), 4);
  auto request = About<v1::ExportMapRequest>("corridor");
  request.set_format(v1::MAP_FORMAT_WAYSTAR);
  EXPECT_EQ(Create("again", client().ExportMap(request)->bytes).digest(), info.digest());
}

TEST_F(MeshSizesTest, AgentsStayOnMapsWithASurfaceForThem) {
  v1::Portal stairs = Portal("stairs", At(10, 17.5), At(4, 4));
  stairs.set_to_map("human");
  ASSERT_THAT(Put("yard", stairs), IsOk());
  v1::FindPathRequest query = Round("yard", 0.4);
  query.set_goal_map("human");
  EXPECT_EQ(server_.Find(query).outcome(), v1::OUTCOME_FOUND);
  query.mutable_agent()->set_radius(1.5);
  EXPECT_THAT(client().FindPath(query), IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "goal_map"));
}

TEST_F(MeshSizesTest, BadSizesAreRefused) {
  const auto expect = [&](const std::string& options, const std::string& reason, const std::string& field) {
    EXPECT_THAT(Build("bad", options), IsRefused(kInvalid, reason, field)) << options;
  };
  const std::string both = absl::StrCat(kHuman, kLargerTroll);
  expect(both + " larger_builds { agent_radius: 1.5 }", "BAD_VALUE",
         "import_options.larger_builds[1].agent_radius");
  expect(kLargerTroll, "BAD_VALUE", "import_options.larger_builds");
  std::string many = kHuman;
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(&many, kLargerTroll);
  }
  expect(many, "BAD_VALUE", "import_options.larger_builds");
  expect(both + " agent_radius: 1", "BAD_VALUE", "import_options.agent_radius");
  expect(absl::StrCat(kHuman, " larger_builds { agent_radius: 15 cell_size: 1 }"), "BAD_SIZE", "data");
}

TEST_F(MeshPortalTest, PathsLeadThroughPortalsAndSaySo) {
  v1::Portal ferry = Portal("ferry", At(1, 1), At(21, 1));
  ferry.set_cost(2);
  ferry.set_both_ways(true);
  ferry.add_tags("boat");
  ASSERT_THAT(Put("corridor", ferry), IsOk());
  v1::FindPathRequest query = Query(At(1, 3), At(23, 1));
  query.set_with_corridor(true);
  query.set_with_summary(true);
  query.set_with_surface(true);
  query.mutable_agent()->mutable_profile()->add_required_tags("boat");
  const v1::FindPathResponse answer = server_.Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 2 + 2 + 2);
  EXPECT_EQ(answer.summary().length(), 4);
  ASSERT_THAT(answer.path().positions(), SizeIs(4));
  EXPECT_THAT(answer.path().corridor(), ElementsAre(0, 3));
  ASSERT_THAT(answer.path().surface(), SizeIs(4)) << "both ends of the ferry, and of the path";
  EXPECT_EQ(Text(answer.path().surface(1)), "1,1,0");
  EXPECT_EQ(Text(answer.path().surface(2)), "21,1,0");
  ASSERT_THAT(answer.path().crossings(), SizeIs(1));
  EXPECT_EQ(TextOf(answer.path().crossings(0)), "portal: \"ferry\" index: 2 arrival_position { x: 21 y: 1 }");
  EXPECT_EQ(answer.info().version().revision(), 2);

  query.mutable_agent()->mutable_profile()->set_required_tags(0, "wings");
  EXPECT_EQ(server_.Find(query).outcome(), v1::OUTCOME_UNREACHABLE);
}

TEST_F(MeshPortalTest, ExplanationsPassPortals) {
  v1::Portal ferry = Portal("ferry", At(1, 1), At(21, 1));
  ferry.set_cost(2);
  ferry.set_closed(true);
  ferry.add_tags("boat");
  ASSERT_THAT(Put("corridor", ferry), IsOk());
  auto request = Parsed<v1::ExplainPathRequest>(R"(
    map: 'corridor' start { position { x: 1 y: 3 } } goal { position { x: 23 y: 1 } } price: 7)");
  const v1::ExplainPathResponse answer = client().ExplainPath(request).value();
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 2 + 2 + 2);
  EXPECT_EQ(answer.price(), 7);
  EXPECT_EQ(answer.info().statistics().algorithm(), v1::ALGORITHM_POLYANYA);
  ASSERT_THAT(answer.blockers(), SizeIs(1));
  EXPECT_EQ(TextOf(answer.blockers(0)), "entry { position { x: 21 y: 1 } } price: 7 portal: \"ferry\"");
  ASSERT_THAT(answer.path().crossings(), SizeIs(1));
  EXPECT_EQ(TextOf(answer.path().crossings(0)), "portal: \"ferry\" index: 2 arrival_position { x: 21 y: 1 }");
  request.mutable_agent()->mutable_profile()->add_required_tags("wings");
  EXPECT_EQ(client().ExplainPath(request)->outcome(), v1::OUTCOME_UNREACHABLE);
}

TEST_F(MeshPortalTest, PortalsAreListedAndKeptInImages) {
  ASSERT_THAT(Put("corridor", Portal("ferry", At(1, 1), At(21, 1))), IsOk());
  auto list = About<v1::ListPortalsRequest>("corridor");
  const auto listed = client().ListPortals(list).value();
  ASSERT_THAT(listed.portals(), SizeIs(1));
  EXPECT_EQ(listed.portals(0).to_position().x(), 21);
  EXPECT_FALSE(listed.portals(0).has_from());

  auto request = About<v1::ExportMapRequest>("corridor");
  request.set_format(v1::MAP_FORMAT_WAYSTAR);
  const auto image = client().ExportMap(request).value();
  EXPECT_EQ(image.header.info().mesh().portals(), 1);
  const v1::MapInfo again = Create("again", image.bytes);
  EXPECT_EQ(again.digest(), image.header.info().digest());
  EXPECT_EQ(again.mesh().portals(), 1);
}

TEST_F(MeshPortalTest, PathsLeadToOtherMeshes) {
  Create("attic", kCorridor);
  const v1::FindPathRequest query = QueryUpstairs();
  const v1::FindPathResponse answer = server_.Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 3);
  ASSERT_THAT(answer.path().crossings(), SizeIs(1));
  EXPECT_EQ(answer.path().crossings(0).map(), "attic");
  EXPECT_EQ(answer.path().crossings(0).map_version().revision(), 1);
  // Pieces bear the numbers of their polygons there too.
  const auto crate = Parsed<v1::UpdateMapRequest>(
      "map: 'attic' edits { add_obstacle { id: 'crate' shape { discs { center { x: 5 y: 5 } radius: 0.5 } } "
      "} }");
  ASSERT_THAT(client().UpdateMap(crate), IsOk());
  const v1::Path path = server_.Find(WithPolygons(query)).path();
  EXPECT_THAT(path.corridor(), ElementsAre(0, 2));
  EXPECT_EQ(path.polygons(0).polygon(), 0U);
  EXPECT_EQ(path.polygons().rbegin()->polygon(), 2U);
  // A picture shows the legs on its own map.
  auto picture = About<v1::RenderMapRequest>("corridor");
  *picture.mutable_query() = query;
  EXPECT_THAT(client().RenderMap(picture), IsOk());
}

TEST_F(MeshPortalTest, PathsDoNotCountCostsOfOtherMeshesAsLengths) {
  auto attic = About<v1::CreateMapRequest>("attic");
  attic.set_data(kCorridor);
  *attic.mutable_import_options()->add_mesh_terrains() = Parsed<v1::MeshTerrain>("name: 'mud' cost: 50");
  ASSERT_THAT(client().CreateMap(attic), IsOk());
  const v1::FindPathRequest query = QueryUpstairs();
  EXPECT_THAT(client().FindPath(query),
              IsRefused(absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED", "agent.profile.terrain_costs"));
}

TEST_F(MeshPortalTest, SomeQuestionsKnowWhatGroundCosts) {
  const std::string in_mud =
      "map: 'corridor' agent { profile { terrain_costs { terrain: 'ground' cost: 3 } } } ";
  const auto walk =
      Parsed<v1::ValidatePathsRequest>(in_mud + "paths { positions { x: 1 y: 1 } positions { x: 3 y: 1 } }");
  EXPECT_DOUBLE_EQ(client().ValidatePaths(walk)->results(0).cost(), 6.0);
  const auto matrix = Parsed<v1::ComputeCostMatrixRequest>(
      in_mud + "starts { position { x: 1 y: 1 } } goals { position { x: 3 y: 1 } }");
  EXPECT_DOUBLE_EQ(client().ComputeCostMatrix(matrix)->costs(0), 6.0);
  auto moves = Parsed<v1::CheckMovesRequest>(in_mud + R"(
    moves { from { position { x: 1 y: 1 } } to { position { x: 3 y: 1 } } elapsed { seconds: 1 } }
    speed: 6.1)");
  EXPECT_EQ(client().CheckMoves(moves)->results(0).verdict(), v1::MOVE_VERDICT_OK);
  moves.set_speed(5.9);
  EXPECT_EQ(client().CheckMoves(moves)->results(0).verdict(), v1::MOVE_VERDICT_TOO_FAST);

  const auto is_refused =
      IsRefused(absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED", "agent.profile.terrain_costs");
  const auto reach = Parsed<v1::FindReachableRequest>(in_mud + "start { position { x: 1 y: 1 } }");
  EXPECT_THAT(client().FindReachable(reach), is_refused);
  ASSERT_THAT(Put("corridor", Portal("ferry", At(1, 1), At(21, 1))), IsOk());
  EXPECT_THAT(client().CheckMoves(moves), is_refused);
  EXPECT_THAT(client().ComputeCostMatrix(matrix), is_refused);
  EXPECT_DOUBLE_EQ(client().ValidatePaths(walk)->results(0).cost(), 6.0);
}

TEST_F(MeshPortalTest, AgentsWalkToOtherMeshes) {
  Create("attic", kCorridor);
  const v1::FindPathRequest query = QueryUpstairs();
  FollowedPath path(server_, query);
  EXPECT_EQ(path.Next().answer().cost(), 3);
  const auto update = Parsed<v1::UpdateMapRequest>(
      "map: 'attic' edits { put_obstacle { id: 'bar' shape { rectangles { x: 6 y: 6 width: 2 height: 1 } } } "
      "}");
  ASSERT_THAT(client().UpdateMap(update), IsOk());
  EXPECT_GT(path.Next().answer().cost(), 3) << "the stairs end beside the obstacle";
}

TEST_F(MeshPortalTest, AnOverlayMovesNoPortalToAnotherFloor) {
  auto request = About<v1::CreateMapRequest>("house");
  request.set_format(v1::MAP_FORMAT_OBJ);
  // Two floors of 10 x 10 at the heights 0 and 10, and an island.
  request.set_data(
      "v 0 0 0\nv 10 0 0\nv 10 0 10\nv 0 0 10\nv 0 10 0\nv 10 10 0\nv 10 10 10\nv 0 10 10\n"
      "v 50 0 0\nv 60 0 0\nv 60 0 10\nv 50 0 10\n"
      "f 1 2 3 4\nf 5 6 7 8\nf 9 10 11 12\n");
  ASSERT_THAT(client().CreateMap(request), IsOk());
  ASSERT_THAT(Put("house", Portal("jump", At(1, 1, 10), At(55, 5))), IsOk());
  const auto outcome = [&](double height, bool with_overlay) {
    v1::FindPathRequest query = Query(At(5, 5, height), At(55, 5));
    query.set_map("house");
    if (with_overlay) {
      *query.mutable_view()->mutable_overlay() = Parsed<v1::Overlay>(
          "blocked { discs { center { x: 1 y: 1 } radius: 0.5 } } blocked_heights { low: 9 high: 11 }");
    }
    return server_.Find(query).outcome();
  };
  EXPECT_EQ(outcome(10, false), v1::OUTCOME_FOUND);
  EXPECT_EQ(outcome(0, false), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(outcome(10, true), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(outcome(0, true), v1::OUTCOME_UNREACHABLE) << "the portal does not fall down";
}

TEST_F(MeshPortalTest, EndsOfTheWrongKindAreRefused) {
  ExpectRefused<v1::UpdateMapRequest>(
      &client::Client::UpdateMap, "map: 'corridor'",
      {{"edits { add_portal { id: 'p' from {} from_position { x: 1 y: 1 } to_position { x: 21 y: 1 } } }",
        kInvalid, "BAD_PORTAL", "edits[0].add_portal.from"},
       {"edits { add_portal { id: 'p' from_position { x: 1 y: 1 } } }", kInvalid, "MISSING_FIELD",
        "edits[0].add_portal.to_position"},
       {"edits { add_portal { id: 'p' from { x: 1 } to { x: 2 } } }", kPrecondition, "WRONG_MAP_KIND",
        "edits[0].add_portal.from"},
       {"edits { add_portal { id: 'p' from_position { x: 50 y: 1 } to_position { x: 2 y: 1 } } }",
        absl::StatusCode::kOutOfRange, "OFF_MAP", "edits[0].add_portal.from_position"}});
  server_.Create("grid", {"...", "..."});
  EXPECT_THAT(Put("grid", Portal("p", At(1, 1), At(2, 1))),
              IsRefused(kPrecondition, "WRONG_MAP_KIND", "edits[0].add_portal.from_position"));
}

}  // namespace
}  // namespace waystar
