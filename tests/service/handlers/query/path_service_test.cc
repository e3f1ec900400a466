// Handlers of FindPath and ValidatePaths: refusals, portals, and queries that bring their map along.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/service/auth/check_access.h"
#include "server/service/handlers/query/answer_query.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;

TEST_F(HandlerTest, RefusalsOfFindPathNameTheField) {
  Create("room", {"....", ".##.", "...."});
  v1::FindPathRequest request = PathRequest("room", CellAt(1, 1), CellAt(3, 2));
  EXPECT_THAT(Find(request),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kStartBlocked, "start"));
  *request.mutable_start() = LocationAt(INT32_MIN, INT32_MAX);
  EXPECT_THAT(Find(request), IsError(kOutOfRange, ErrorReason::kOffMap, "start"));
  EXPECT_THAT(Find(PathRequest("room", CellAt(0, 0), CellAt(INT32_MAX, INT32_MIN))),
              IsError(kOutOfRange, ErrorReason::kOffMap, "goals[0]"));
  request.clear_start();
  EXPECT_THAT(Find(request), IsError(kInvalid, ErrorReason::kMissingField, "start"));
  request.set_map("nowhere");
  EXPECT_THAT(Find(request), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  request.set_map("../x");
  EXPECT_THAT(Find(request), IsError(kInvalid, ErrorReason::kBadMapId, "map"));
}

v1::ValidatePathsRequest ValidateRequest(const std::string& map, const std::vector<v1::Cell>& points) {
  auto request = About<v1::ValidatePathsRequest>(map);
  request.add_paths()->mutable_points()->Assign(points.begin(), points.end());
  return request;
}

class ValidatePathsHandlerTest : public HandlerTest {
 protected:
  ValidatePathsHandlerTest() { Create("arena", {"....", "...."}); }
};

TEST_F(ValidatePathsHandlerTest, ProfileAndOverlayAreTheAgents) {
  auto request = ValidateRequest("arena", {CellAt(0, 0), CellAt(3, 0)});
  *request.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(1, 0);
  const auto blocked = Validate(request).value();
  EXPECT_FALSE(blocked.walkable());
  EXPECT_EQ(blocked.blocked_index(), 1);
  request.clear_view();
  request.mutable_agent()->mutable_profile()->set_footprint(2);
  EXPECT_FALSE(Validate(request)->walkable());
}

TEST_F(ValidatePathsHandlerTest, RefusesWhatIsNoPath) {
  EXPECT_THAT(Validate(ValidateRequest("nowhere", {CellAt(0, 0)})),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  EXPECT_THAT(Validate(ValidateRequest("arena", {})),
              IsError(kInvalid, ErrorReason::kMissingField, "paths[0].points"));
  EXPECT_THAT(Validate(ValidateRequest("arena", {CellAt(0, 0), CellAt(4, 0)})),
              IsError(kOutOfRange, ErrorReason::kOffMap, "paths[0].points[1]"));
  auto request = ValidateRequest("arena", {});
  v1::Path& path = *request.mutable_paths(0);
  path.add_directions(v1::DIRECTION_SOUTH);
  path.add_directions(v1::DIRECTION_SOUTH);
  EXPECT_THAT(Validate(request), IsError(kInvalid, ErrorReason::kMissingField, "paths[0].start"));
  path.mutable_start()->mutable_cell();
  EXPECT_THAT(Validate(request), IsError(kOutOfRange, ErrorReason::kOffMap, "paths[0].directions[1]"));
  path.mutable_start()->mutable_cell()->set_x(4);
  EXPECT_THAT(Validate(request), IsError(kOutOfRange, ErrorReason::kOffMap, "paths[0].start"));
  *path.add_points() = CellAt(0, 1);
  EXPECT_THAT(Validate(request), IsError(kInvalid, ErrorReason::kBadValue, "paths[0].points"));
  auto nodes = ValidateRequest("arena", {CellAt(0, 0)});
  nodes.mutable_paths(0)->add_nodes("a");
  EXPECT_THAT(Validate(nodes),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "paths[0].nodes"));
  auto many = About<v1::ValidatePathsRequest>("arena");
  EXPECT_THAT(Validate(many), IsError(kInvalid, ErrorReason::kMissingField, "paths"));
  for (int i = 0; i < 1001; ++i) {
    many.add_paths();
  }
  EXPECT_THAT(Validate(many),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "paths"));
  auto bad_rule = ValidateRequest("arena", {CellAt(0, 0)});
  bad_rule.mutable_agent()->set_footprint(33);
  EXPECT_THAT(Validate(bad_rule), IsError(kInvalid, ErrorReason::kBadValue, "agent.footprint"));
}

// What handlers make of portals: crossings of answers, and paths through portals that are validated.

// Two floors: one room parted by a wall above, an open one below; stairs lead down on the left and up on the
// right.
class PortalTest : public HandlerTest {
 protected:
  PortalTest() {
    Create("upper", {"..#..",  //
                     "..#.."});
    Create("lower", {".....",  //
                     "....."});
    LayStairs("upper", "down", CellAt(1, 0), "lower");
    LayStairs("lower", "up", CellAt(3, 0), "upper");
  }

  void LayStairs(const std::string& map, const std::string& id, const v1::Cell& cell,
                 const std::string& to_map) {
    auto request = About<v1::UpdateMapRequest>(map);
    v1::Portal& portal = *request.add_edits()->mutable_add_portal();
    portal.set_id(id);
    *portal.mutable_from() = cell;
    *portal.mutable_to() = cell;
    portal.set_to_map(to_map);
    portal.set_cost(1);
    ASSERT_THAT(Update(request), IsOk());
  }

  void SwitchUp(bool closed) {
    auto request = About<v1::UpdateMapRequest>("lower");
    v1::SwitchPortal& edit = *request.add_edits()->mutable_switch_portal();
    edit.set_id("up");
    edit.set_closed(closed);
    ASSERT_THAT(Update(request), IsOk());
  }
};

TEST_F(PortalTest, CrossingsAreTold) {
  const auto found = Find(PathRequest("upper", CellAt(0, 0), CellAt(4, 0))).value();
  EXPECT_EQ(found.cost(), 6.0);
  EXPECT_EQ(Show(found.path().points()), "(0, 0) (1, 0) (1, 0) (2, 0) (3, 0) (3, 0) (4, 0)");
  ASSERT_EQ(found.path().crossings_size(), 2);
  EXPECT_EQ(found.path().crossings(0).portal(), "down");
  EXPECT_EQ(found.path().crossings(0).index(), 2);
  EXPECT_EQ(found.path().crossings(0).map(), "lower");
  EXPECT_EQ(found.path().crossings(0).map_version().revision(), 2U);
  EXPECT_EQ(found.path().crossings(1).portal(), "up");
  EXPECT_EQ(found.path().crossings(1).map(), "upper");
  EXPECT_EQ(found.path().crossings(1).arrival().x(), 3);
}

TEST_F(PortalTest, FieldsGoByOtherMapsToo) {
  const auto pair = Parsed<v1::CheckReachabilityRequest>(
      R"(map: "upper" pairs { start { cell {} } goal { cell { x: 4 } } })");
  EXPECT_TRUE(Ask<v1::CheckReachabilityResponse>(pair)->reachable(0));
  const auto sample = Parsed<v1::SamplePlacesRequest>(R"(map: "upper" count: 1 reachable_from { cell {} })");
  EXPECT_EQ(Ask<v1::SamplePlacesResponse>(sample)->candidates(), 8);
  const auto matrix =
      Parsed<v1::ComputeCostMatrixRequest>(R"(map: "upper" starts { cell {} } goals { cell { x: 4 } })");
  EXPECT_EQ(Ask<v1::ComputeCostMatrixResponse>(matrix)->costs(0), 6.0);
}

TEST_F(PortalTest, AFoundPathIsValidUntilAPortalOfItCloses) {
  for (const v1::PathForm form :
       {v1::PATH_FORM_EVERY_CELL, v1::PATH_FORM_CORNERS, v1::PATH_FORM_DIRECTIONS}) {
    SCOPED_TRACE(v1::PathForm_Name(form));
    v1::FindPathRequest query = PathRequest("upper", CellAt(0, 0), CellAt(4, 0));
    query.set_path_form(form);
    const auto found = Find(query).value();
    auto request = About<v1::ValidatePathsRequest>("upper");
    *request.add_paths() = found.path();
    auto valid = Validate(request);
    ASSERT_TRUE(valid.ok()) << valid.status();
    EXPECT_TRUE(valid->walkable());
    EXPECT_EQ(valid->cost(), found.cost());

    SwitchUp(/*closed=*/true);
    valid = Validate(request);
    ASSERT_TRUE(valid.ok()) << valid.status();
    EXPECT_FALSE(valid->walkable());
    EXPECT_EQ(valid->cost(), 4.0);
    EXPECT_EQ(valid->blocked_at().cell().x(), 3);
    EXPECT_EQ(valid->blocked_index(), form == v1::PATH_FORM_DIRECTIONS ? 3
                                      : form == v1::PATH_FORM_CORNERS  ? 4
                                                                       : 5);
    SwitchUp(/*closed=*/false);
  }
}

TEST_F(PortalTest, CrossingsThatFitNoPathAreRefused) {
  auto request = ValidateRequest("upper", {CellAt(0, 0), CellAt(1, 0)});
  v1::Path& path = *request.mutable_paths(0);
  for (const int index : {-1, 0, 2, 1'000'000}) {
    path.clear_crossings();
    path.add_crossings()->set_index(index);
    EXPECT_THAT(Validate(request), IsError(kInvalid, ErrorReason::kBadValue, "paths[0].crossings[0].index"));
  }
}

constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

class InlineMapTest : public HandlerTest {
 protected:
  InlineMapTest() {
    *request_.mutable_start() = LocationAt(0, 0);
    *request_.add_goals() = LocationAt(2, 2);
  }

  v1::InlineMap& map() { return *request_.mutable_inline_map(); }

  // A graph of two nodes, which replaces cells by nodes in the query.
  v1::WaypointGraph& TakeGraph() {
    v1::WaypointGraph& graph = *map().mutable_graph();
    graph = Parsed<v1::WaypointGraph>("nodes { id: 'a' } nodes { id: 'b' position { x: 5 } }");
    request_.mutable_start()->set_node("a");
    request_.mutable_goals(0)->set_node("b");
    return graph;
  }

  v1::FindPathRequest request_;
};

TEST_F(InlineMapTest, RowsAreAMap) {
  map() = Parsed<v1::InlineMap>("rows: ['..~', '##~', '...'] grid { terrains { symbol: '~' cost: 3 } }");
  const auto answer = Find(request_).value();
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(answer.cost(), 8.0);
  EXPECT_EQ(answer.path().points_size(), 5);
  EXPECT_EQ(answer.info().version().epoch(), 0U);
  EXPECT_EQ(answer.info().version().revision(), 0U);
  EXPECT_EQ(store_.size(), 0U) << "nothing is left behind";
}

TEST_F(InlineMapTest, BitsAreAMapOfRowsOfBytes) {
  v1::BitGrid& bits = *map().mutable_bits();
  bits.set_width(10);
  bits.set_height(3);
  // The second row is blocked but for x = 9.
  bits.set_blocked(std::string({'\0', '\0', '\xFF', '\x01', '\0', '\0'}));
  map().mutable_grid()->mutable_squares()->set_connectivity(v1::CONNECTIVITY_FOUR);
  const auto answer = Find(request_).value();
  EXPECT_EQ(answer.cost(), 9 + 2 + 7);
  bits.set_blocked("abc");
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map.bits.blocked"));
  bits.clear_blocked();
  EXPECT_EQ(Find(request_)->cost(), 4) << "all is free";
}

TEST_F(InlineMapTest, GraphsAreSearchedToo) {
  v1::WaypointGraph& graph = TakeGraph();
  graph.mutable_auto_connect()->set_max_distance(10);
  const auto answer = Find(request_).value();
  EXPECT_THAT(answer.path().nodes(), ElementsAre("a", "b"));
  EXPECT_EQ(answer.cost(), 5);
  graph.mutable_auto_connect()->set_reference_map("arena");
  EXPECT_THAT(Find(request_),
              IsError(kInvalid, ErrorReason::kBadValue, "inline_map.graph.auto_connect.reference_map"));
  graph.clear_auto_connect();
  EXPECT_EQ(Find(request_)->outcome(), v1::OUTCOME_UNREACHABLE);
  graph.add_edges();
  EXPECT_THAT(Find(request_),
              IsError(kInvalid, ErrorReason::kMissingField, "inline_map.graph.edges[0].edge"));
}

TEST_F(InlineMapTest, HasOneSource) {
  map();
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map"));
  map().add_rows("...");
  map().mutable_bits()->set_width(3);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map"));
  map().clear_bits();
  request_.set_map("arena");
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSource, "inline_map"));
}

TEST_F(InlineMapTest, WhatIsTooLargeIsRefusedBeforeItIsMade) {
  v1::BitGrid& bits = *map().mutable_bits();
  bits.set_width(8192);
  bits.set_height(8);
  *request_.mutable_goals(0) = LocationAt(8191, 0);
  const auto largest = Find(request_).value();
  EXPECT_EQ(largest.cost(), 8191);
  bits.set_height(9);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSize, "inline_map.bits"));
  bits.set_width(8193);
  bits.set_height(1);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSize, "inline_map.bits.width"));
  bits.set_width(1);
  bits.set_height(8192);
  map().mutable_grid()->mutable_hexagons()->set_layout(v1::HEX_LAYOUT_ODD_ROWS);
  EXPECT_THAT(Find(request_), IsError(kInvalid, ErrorReason::kBadSize, "inline_map.bits")) << "a vast plane";
  map().clear_grid();
  map().clear_bits();
  for (std::size_t i = 0; i <= rpc::kMaxInlineNodes; ++i) {
    map().mutable_graph()->add_nodes();
  }
  EXPECT_THAT(Find(request_), IsError(kExhausted, ErrorReason::kTooManyNodes, "inline_map.graph.nodes"));
  map().mutable_graph()->clear_nodes();
  for (std::size_t i = 0; i <= rpc::kMaxInlineEdges / 2; ++i) {
    map().mutable_graph()->add_edges();
  }
  EXPECT_THAT(Find(request_), IsError(kExhausted, ErrorReason::kTooManyEdges, "inline_map.graph.edges"));
  v1::WaypointGraph& graph = *map().mutable_graph();
  graph.Clear();
  for (int i = 0; i < 400; ++i) {
    graph.add_nodes()->set_id(absl::StrCat("n", i));
  }
  graph.mutable_auto_connect()->set_max_distance(1);
  EXPECT_THAT(Find(request_),
              IsError(kExhausted, ErrorReason::kTooManyEdges, "inline_map.graph.auto_connect"));
  for (std::size_t i = 0; i <= rpc::kMaxInlineObstacles; ++i) {
    graph.add_obstacles();
  }
  EXPECT_THAT(Find(request_),
              IsError(kExhausted, ErrorReason::kTooManyObstacles, "inline_map.graph.obstacles"));
}

TEST_F(InlineMapTest, IsNeverMadeWhereThereIsNoUpkeep) {
  map().add_rows("...");
  map().add_rows("...");
  map().add_rows("...");
  core::Upkeep none(0);
  context_.budget.upkeep = &none;
  EXPECT_FALSE(Find(request_).ok());
  EXPECT_TRUE(context_.NeedsLargerLane());
}

TEST_F(InlineMapTest, LeadsToNoOtherMap) {
  Create("other", {"..."});
  map().add_rows("...");
  request_.set_goal_map("other");
  EXPECT_THAT(Find(request_), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "goal_map"));
}

// A query that names a map as well is not let in because it brings one.
TEST_F(InlineMapTest, IsForWhoeverMayReadSomeMap) {
  const auto caller_with = [](rpc::Permission permission) {
    rpc::Token token{.name = "game", .id = 1};
    token.grants.push_back({.permission = permission, .pattern = "town-*"});
    return rpc::Caller(std::make_shared<const rpc::Token>(token));
  };
  map().add_rows("...");
  const auto reads = [&](const rpc::Caller& caller) {
    return rpc::CheckMaps(caller, rpc::Permission::kRead, request_);
  };
  EXPECT_TRUE(reads(caller_with(rpc::Permission::kRead)).ok());
  const rpc::Caller nobody(std::make_shared<const rpc::Token>(rpc::Token{.name = "nobody", .id = 2}));
  EXPECT_EQ(reads(nobody).code(), absl::StatusCode::kPermissionDenied);
  request_.set_map("forest");
  EXPECT_THAT(reads(caller_with(rpc::Permission::kRead)),
              IsError(absl::StatusCode::kPermissionDenied, ErrorReason::kNotPermitted, "map"));
}

}  // namespace
}  // namespace waystar
