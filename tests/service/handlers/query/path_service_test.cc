// PathService, asked by a real client over a real socket.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::About;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::LocationAt;
using ::waystar::testing::Parsed;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;

class PathServiceTest : public ::testing::Test {
 protected:
  PathServiceTest() { server_.Create("room", {"....", ".##.", "...."}); }

  TestServer server_;
};

TEST_F(PathServiceTest, AnswersInFull) {
  v1::FindPathRequest request = PathRequest("room", CellAt(0, 1), CellAt(3, 1));
  request.set_algorithm(v1::ALGORITHM_ASTAR);
  const v1::FindPathResponse response = server_.Find(request);
  EXPECT_EQ(response.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(response.reason(), v1::OUTCOME_REASON_GOAL_REACHED);
  EXPECT_EQ(response.cost(), 5.0);
  EXPECT_EQ(Show(response.path().points()), "(0, 1) (0, 0) (1, 0) (2, 0) (3, 0) (3, 1)");
  EXPECT_EQ(response.path().directions_size(), 0);
  EXPECT_EQ(response.path().end().cell().x(), 3);
  EXPECT_EQ(response.path().end().cell().y(), 1);
  EXPECT_EQ(response.info().version().revision(), 1U);
  EXPECT_GT(response.info().statistics().expanded(), 0U);
  EXPECT_GE(response.info().statistics().generated(), response.info().statistics().expanded());
  EXPECT_GT(response.info().statistics().queue_time().nanos(), 0);
  EXPECT_GT(response.info().statistics().search_time().nanos(), 0);
  EXPECT_EQ(response.info().statistics().algorithm(), v1::ALGORITHM_ASTAR);
}

TEST_F(PathServiceTest, SeesEveryUpdateThatWasAnswered) {
  const v1::FindPathRequest request = PathRequest("room", CellAt(0, 1), CellAt(3, 1));
  const auto updated = server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).value();
  const v1::FindPathResponse response = server_.Find(request);
  EXPECT_EQ(response.info().version().revision(), updated.version().revision());
  EXPECT_EQ(Show(response.path().points()), "(0, 1) (0, 2) (1, 2) (2, 2) (3, 2) (3, 1)");
}

TEST_F(PathServiceTest, RefusalsNameTheField) {
  v1::FindPathRequest request = PathRequest("room", CellAt(1, 1), CellAt(3, 2));
  EXPECT_THAT(server_.client().FindPath(request),
              IsRefused(absl::StatusCode::kFailedPrecondition, "START_BLOCKED", "start"));
  *request.mutable_start() = LocationAt(INT32_MIN, INT32_MAX);
  EXPECT_THAT(server_.client().FindPath(request),
              IsRefused(absl::StatusCode::kOutOfRange, "OFF_MAP", "start"));
  request.clear_start();
  EXPECT_THAT(server_.client().FindPath(request), IsRefused(kInvalid, "MISSING_FIELD", "start"));
  request.set_map("nowhere");
  EXPECT_THAT(server_.client().FindPath(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  request.set_map("../x");
  EXPECT_THAT(server_.client().FindPath(request), IsRefused(kInvalid, "BAD_MAP_ID", "map"));
}

// ValidatePaths.

v1::ValidatePathsRequest ValidateRequest(const std::string& map, const std::vector<v1::Cell>& points) {
  auto request = About<v1::ValidatePathsRequest>(map);
  request.add_paths()->mutable_points()->Assign(points.begin(), points.end());
  return request;
}

TEST(ValidatePathsRpcTest, FoundPathIsValidUntilItIsBlocked) {
  TestServer server;
  server.Create("arena", {"....", "....", "...."});
  auto query = PathRequest("arena", CellAt(0, 0), CellAt(3, 0));
  query.set_path_form(v1::PATH_FORM_DIRECTIONS);
  const auto found = server.client().FindPath(query).value();
  auto request = About<v1::ValidatePathsRequest>("arena");
  *request.add_paths() = found.path();
  *request.add_paths() = Parsed<v1::Path>("points {} points { y: 2 }");
  const auto valid = server.client().ValidatePaths(request).value();
  ASSERT_EQ(valid.results_size(), 2);
  EXPECT_TRUE(valid.results(0).walkable());
  EXPECT_EQ(valid.results(0).cost(), found.cost());
  EXPECT_EQ(valid.results(1).cost(), 2.0);
  EXPECT_EQ(valid.info().version().revision(), 1U);

  ASSERT_TRUE(server.client().UpdateMap(BlockRequest("arena", {CellAt(2, 0)})).ok());
  const auto answer = server.client().ValidatePaths(request).value();
  const v1::PathValidity& blocked = answer.results(0);
  EXPECT_FALSE(blocked.walkable());
  EXPECT_EQ(blocked.blocked_index(), 1);
  EXPECT_EQ(blocked.blocked_at().cell().x(), 2);
  EXPECT_EQ(blocked.cost(), 1.0);
  EXPECT_TRUE(answer.results(1).walkable());
  EXPECT_EQ(answer.info().version().revision(), 2U);
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

}  // namespace
}  // namespace waystar
