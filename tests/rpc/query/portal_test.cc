// Portals over the wire: laid, listed, gone through, watched and validated.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/rpc/watch/watch_of_path.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;
using ::waystar::testing::Update;
using ::waystar::testing::WatchOfPath;

v1::UpdateObstaclesRequest PortalRequest(const std::string& map, const std::string& id, const v1::Cell& from,
                                         const v1::Cell& to, const std::string& to_map = "") {
  v1::UpdateObstaclesRequest request;
  request.set_map(map);
  v1::Portal& portal = *request.add_edits()->mutable_put_portal()->mutable_portal();
  portal.set_id(id);
  *portal.mutable_from() = from;
  *portal.mutable_to() = to;
  portal.set_to_map(to_map);
  portal.set_cost(1);
  return request;
}

v1::UpdateObstaclesRequest CloseRequest(const std::string& map, const std::string& id) {
  v1::UpdateObstaclesRequest request;
  request.set_map(map);
  v1::SwitchPortal& edit = *request.add_edits()->mutable_switch_portal();
  edit.set_id(id);
  edit.set_closed(true);
  return request;
}

// Two floors: one room parted by a wall above, an open one below; stairs lead down on the left and up on the
// right.
class PortalTest : public ::testing::Test {
 protected:
  PortalTest() {
    server_.Create("upper", {"..#..",  //
                             "..#.."});
    server_.Create("lower", {".....",  //
                             "....."});
    Update(server_, PortalRequest("upper", "down", CellAt(1, 0), CellAt(1, 0), "lower"));
    Update(server_, PortalRequest("lower", "up", CellAt(3, 0), CellAt(3, 0), "upper"));
  }

  v1::FindPathResponse Find(const v1::FindPathRequest& request) {
    const auto found = server_.client().FindPath(request);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : v1::FindPathResponse();
  }

  TestServer server_;
};

TEST_F(PortalTest, APathMayGoByAnotherMap) {
  const v1::FindPathResponse found = Find(PathRequest("upper", CellAt(0, 0), CellAt(4, 0)));
  EXPECT_EQ(found.outcome(), v1::OUTCOME_FOUND);
  EXPECT_EQ(found.cost(), 6.0);
  EXPECT_EQ(Show(found.points()), "(0, 0) (1, 0) (1, 0) (2, 0) (3, 0) (3, 0) (4, 0)");
  ASSERT_EQ(found.crossings_size(), 2);
  EXPECT_EQ(found.crossings(0).portal(), "down");
  EXPECT_EQ(found.crossings(0).index(), 2);
  EXPECT_EQ(found.crossings(0).map(), "lower");
  EXPECT_EQ(found.crossings(0).map_revision(), 2U);
  EXPECT_EQ(found.crossings(1).portal(), "up");
  EXPECT_EQ(found.crossings(1).map(), "upper");
  EXPECT_EQ(found.crossings(1).arrival().x(), 3);
}

TEST_F(PortalTest, TheGoalMayLieOnAnotherMap) {
  v1::FindPathRequest request = PathRequest("upper", CellAt(0, 0), CellAt(0, 1));
  request.set_goal_map("lower");
  request.set_path_form(v1::PATH_FORM_DIRECTIONS);
  const v1::FindPathResponse found = Find(request);
  EXPECT_NEAR(found.cost(), 2 + 1.4142135, 1e-6);
  EXPECT_EQ(found.directions_size(), 2);
  EXPECT_EQ(found.crossings(0).index(), 1);
  request.set_goal_map("attic");
  EXPECT_THAT(server_.client().FindPath(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "goal_map"));
}

TEST_F(PortalTest, PositionsAndSummariesAreOfTheMapsThatLegsLieOn) {
  v1::GridOptions large;
  large.mutable_origin()->set_x(100);
  large.set_cell_size(2);
  server_.Create("hall", {"...."}, large);
  Update(server_, PortalRequest("upper", "door", CellAt(0, 1), CellAt(0, 0), "hall"));
  v1::FindPathRequest request = PathRequest("upper", CellAt(0, 0), CellAt(0, 0));
  request.clear_goal();
  request.mutable_goal_position()->set_x(106.5);
  request.mutable_goal_position()->set_y(1);
  request.set_goal_map("hall");
  request.set_with_summary(true);
  const v1::FindPathResponse found = Find(request);
  EXPECT_EQ(Show(found.points()), "(0, 0) (0, 1) (0, 0) (1, 0) (2, 0) (3, 0)");
  ASSERT_EQ(found.positions_size(), 6);
  EXPECT_EQ(found.positions(1).y(), 1.5);
  EXPECT_EQ(found.positions(2).x(), 101.0);
  EXPECT_EQ(found.positions(5).x(), 107.0);
  EXPECT_EQ(found.summary().length(), 1.0 + 3 * 2.0);
  ASSERT_EQ(found.summary().legs_size(), 2);
  EXPECT_EQ(found.summary().legs(1).cells(), 3);
  EXPECT_EQ(found.summary().legs(1).length(), 6.0);
}

TEST_F(PortalTest, ManyQueriesAreAnsweredAsEachAloneIs) {
  Update(server_, PortalRequest("upper", "hatch", CellAt(0, 1), CellAt(4, 1)));
  v1::FindPathsRequest request;
  request.set_map("upper");
  request.mutable_overlay()->mutable_blocked()->add_cells()->set_x(1);
  request.mutable_profile()->set_corner_rule(v1::CORNER_RULE_ALWAYS);
  const auto add = [&](v1::Cell start, v1::Cell goal) -> v1::FindPathRequest& {
    v1::FindPathRequest& query = *request.add_queries();
    query = PathRequest("upper", std::move(start), std::move(goal));
    return query;
  };
  add(CellAt(0, 0), CellAt(3, 0));
  add(CellAt(0, 0), CellAt(1, 0));
  add(CellAt(0, 0), CellAt(1, 1)).set_corner_rule(v1::CORNER_RULE_NO_CORNER_CUTTING);
  add(CellAt(0, 0), CellAt(3, 0)).set_footprint(2);
  add(CellAt(0, 0), CellAt(2, 1)).set_goal_map("lower");
  add(CellAt(0, 0), CellAt(2, 1)).set_goal_map("attic");
  add(CellAt(0, 0), CellAt(4, 0)).mutable_overlay()->mutable_blocked()->add_cells()->set_x(3);
  add(CellAt(0, 0), CellAt(4, 0)).mutable_profile();
  v1::FindPathRequest& snapping = add(CellAt(1, 0), CellAt(4, 0));
  snapping.set_snap_radius(1);
  snapping.set_with_summary(true);
  v1::FindPathRequest& several = add(CellAt(0, 0), CellAt(4, 0));
  several.clear_goal();
  *several.add_goals() = CellAt(1, 0);
  *several.add_goals() = CellAt(3, 1);
  add(CellAt(0, 0), CellAt(9, 0));
  add(CellAt(0, 0), CellAt(4, 0)).set_path_form(static_cast<v1::PathForm>(99));

  const auto answers = server_.client().FindPaths(request);
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_EQ(answers->results_size(), request.queries_size());
  int found = 0;
  for (int i = 0; i < request.queries_size(); ++i) {
    SCOPED_TRACE(i);
    v1::FindPathRequest query = request.queries(i);
    if (!query.has_overlay()) {
      *query.mutable_overlay() = request.overlay();
    }
    if (!query.has_profile()) {
      *query.mutable_profile() = request.profile();
    }
    auto alone = server_.client().FindPath(query);
    v1::FindPathsResult result = answers->results(i);
    if (!alone.ok()) {
      EXPECT_EQ(result.problem().code(), static_cast<int>(alone.status().code()));
      EXPECT_EQ(result.problem().message(), alone.status().message());
      continue;
    }
    alone->clear_statistics();
    result.mutable_answer()->clear_statistics();
    EXPECT_EQ(result.answer().ShortDebugString(), alone->ShortDebugString());
    found += alone->outcome() == v1::OUTCOME_FOUND ? 1 : 0;
  }
  EXPECT_GE(found, 4);
}

TEST_F(PortalTest, AMapOfAnotherWorldIsNotThere) {
  v1::GridOptions elsewhere;
  elsewhere.set_world("moon");
  server_.Create("crater", {"..."}, elsewhere);
  Update(server_, PortalRequest("upper", "rocket", CellAt(0, 1), CellAt(0, 0), "crater"));
  v1::FindPathRequest request = PathRequest("upper", CellAt(0, 0), CellAt(2, 0));
  request.set_goal_map("crater");
  EXPECT_THAT(server_.client().FindPath(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "goal_map"));
  v1::GetMapRequest get;
  get.set_map("crater");
  EXPECT_EQ(server_.client().GetMap(get)->info().grid().world(), "moon");
}

TEST_F(PortalTest, ReachabilityIsThatOfPaths) {
  v1::CheckReachabilityRequest request;
  request.set_map("upper");
  v1::CellPair& pair = *request.add_pairs();
  *pair.mutable_start() = CellAt(0, 0);
  *pair.mutable_goal() = CellAt(4, 0);
  v1::CellPair& back = *request.add_pairs();
  *back.mutable_start() = CellAt(4, 0);
  *back.mutable_goal() = CellAt(0, 0);
  EXPECT_THAT(server_.client().CheckReachability(request)->reachable(), ElementsAre(true, false));
  v1::SampleCellsRequest sample;
  sample.set_map("upper");
  sample.set_count(1);
  *sample.mutable_reachable_from() = CellAt(0, 0);
  EXPECT_EQ(server_.client().SampleCells(sample)->candidates(), 8);
  Update(server_, CloseRequest("lower", "up"));
  EXPECT_THAT(server_.client().CheckReachability(request)->reachable(), ElementsAre(false, false));
  EXPECT_EQ(server_.client().SampleCells(sample)->candidates(), 4);
}

TEST_F(PortalTest, AMatrixSaysWhatPathsCost) {
  v1::ComputeCostMatrixRequest request;
  request.set_map("upper");
  for (const v1::Cell& cell : {CellAt(0, 0), CellAt(0, 1), CellAt(4, 0)}) {
    *request.add_sources() = cell;
    *request.add_targets() = cell;
  }
  auto matrix = server_.client().ComputeCostMatrix(request);
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_EQ(matrix->costs(2), 6.0);
  EXPECT_NEAR(matrix->costs(5), 5.0 + std::sqrt(2.0), 1e-6);
  EXPECT_EQ(matrix->costs(6), -1.0);
  EXPECT_EQ(matrix->revision(), 2U);
  Update(server_, PortalRequest("upper", "gap", CellAt(0, 0), CellAt(4, 0)));
  request.mutable_profile();
  matrix = server_.client().ComputeCostMatrix(request);
  EXPECT_EQ(matrix->costs(2), 1.0);
  request.mutable_profile()->add_required_tags("dry");
  EXPECT_EQ(server_.client().ComputeCostMatrix(request)->costs(2), -1.0);
}

TEST_F(PortalTest, FloodsPassPortalsOfTheMap) {
  Update(server_, PortalRequest("upper", "gap", CellAt(1, 1), CellAt(3, 1)));
  v1::FindReachableRequest reach;
  reach.set_map("upper");
  *reach.mutable_start() = CellAt(0, 1);
  EXPECT_EQ(server_.client().FindReachable(reach)->count(), 8);
  reach.mutable_profile()->add_required_tags("dry");
  EXPECT_EQ(server_.client().FindReachable(reach)->count(), 4);

  v1::ComputeFlowFieldRequest flow;
  flow.set_map("upper");
  flow.set_want_costs(true);
  *flow.add_goals() = CellAt(4, 1);
  const auto field = server_.client().ComputeFlowField(flow);
  ASSERT_TRUE(field.ok()) << field.status();
  EXPECT_EQ(field->directions(), std::string("\x04\x05\x00\x04\x05\x03\x0A\x00\x03\x09", 10));
  EXPECT_EQ(field->costs(5), 3.0F);
  ASSERT_EQ(field->portals_size(), 1);
  EXPECT_EQ(field->portals(0).portal(), "gap");
  EXPECT_EQ(field->portals(0).cell().x(), 1);
  EXPECT_EQ(field->portals(0).arrival().x(), 3);
}

TEST_F(PortalTest, AreListedAndCounted) {
  Update(server_, PortalRequest("upper", "a", CellAt(0, 0), CellAt(4, 0)));
  Update(server_, PortalRequest("upper", "b", CellAt(0, 1), CellAt(4, 1)));
  v1::ListPortalsRequest request;
  request.set_map("upper");
  request.set_page_size(2);
  auto page = server_.client().ListPortals(request);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->portals_size(), 2);
  EXPECT_EQ(page->portals(1).id(), "b");
  request.set_page_token(page->next_page_token());
  page = server_.client().ListPortals(request);
  ASSERT_EQ(page->portals_size(), 1);
  EXPECT_EQ(page->portals(0).id(), "down");
  EXPECT_EQ(page->portals(0).to_map(), "lower");
  EXPECT_EQ(page->next_page_token(), "");
  v1::GetMapRequest get;
  get.set_map("upper");
  EXPECT_EQ(server_.client().GetMap(get)->info().grid().portals(), 3);

  request.set_page_token("no such/token");
  EXPECT_THAT(server_.client().ListPortals(request), IsRefused(kInvalid, "BAD_VALUE", "page_token"));
  request.set_page_size(-1);
  EXPECT_THAT(server_.client().ListPortals(request), IsRefused(kInvalid, "BAD_VALUE", "page_size"));
}

TEST_F(PortalTest, AFoundPathIsValidUntilAPortalOfItCloses) {
  for (const v1::PathForm form :
       {v1::PATH_FORM_EVERY_CELL, v1::PATH_FORM_CORNERS, v1::PATH_FORM_DIRECTIONS}) {
    SCOPED_TRACE(v1::PathForm_Name(form));
    v1::FindPathRequest query = PathRequest("upper", CellAt(0, 0), CellAt(4, 0));
    query.set_path_form(form);
    const v1::FindPathResponse found = Find(query);
    v1::ValidatePathRequest request;
    request.set_map("upper");
    *request.mutable_points() = found.points();
    *request.mutable_directions() = found.directions();
    *request.mutable_crossings() = found.crossings();
    request.set_path_form(form);
    if (form == v1::PATH_FORM_DIRECTIONS) {
      *request.add_points() = CellAt(0, 0);
    }
    auto valid = server_.client().ValidatePath(request);
    ASSERT_TRUE(valid.ok()) << valid.status();
    EXPECT_TRUE(valid->walkable());
    EXPECT_EQ(valid->cost(), found.cost());

    Update(server_, CloseRequest("lower", "up"));
    valid = server_.client().ValidatePath(request);
    ASSERT_TRUE(valid.ok()) << valid.status();
    EXPECT_FALSE(valid->walkable());
    EXPECT_EQ(valid->cost(), 4.0);
    EXPECT_EQ(valid->blocked_cell().x(), 3);
    EXPECT_EQ(valid->blocked_index(), form == v1::PATH_FORM_DIRECTIONS ? 3
                                      : form == v1::PATH_FORM_CORNERS  ? 4
                                                                       : 5);
    v1::UpdateObstaclesRequest open;
    open.set_map("lower");
    open.add_edits()->mutable_switch_portal()->set_id("up");
    Update(server_, open);
  }
}

TEST_F(PortalTest, CrossingsThatFitNoPathAreRefused) {
  v1::ValidatePathRequest request;
  request.set_map("upper");
  *request.add_points() = CellAt(0, 0);
  *request.add_points() = CellAt(1, 0);
  for (const int index : {-1, 0, 2, 1'000'000}) {
    request.clear_crossings();
    request.add_crossings()->set_index(index);
    EXPECT_THAT(server_.client().ValidatePath(request),
                IsRefused(kInvalid, "BAD_VALUE", "crossings[0].index"));
  }
}

TEST_F(PortalTest, OverlappingOnesAreRefused) {
  EXPECT_THAT(
      server_.client().UpdateObstacles(PortalRequest("upper", "again", CellAt(1, 0), CellAt(1, 0), "lower")),
      IsRefused(absl::StatusCode::kAlreadyExists, "PORTAL_OVERLAPS", "edits[0].put_portal.portal"));
}

TEST(PortalWatchTest, ToldWhenAPortalOpensClosesOrIsBlocked) {
  TestServer server;
  server.Create("arena", {"..#..",  //
                          "..#..",  //
                          "....."});
  WatchOfPath watch(server, PathRequest("arena", CellAt(0, 0), CellAt(4, 0)));
  const double around = watch.Next().answer().cost();
  Update(server, PortalRequest("arena", "gate", CellAt(1, 0), CellAt(3, 0)));
  v1::WatchPathResponse message = watch.Next();
  EXPECT_EQ(message.answer().cost(), 3.0);
  EXPECT_EQ(message.answer().crossings_size(), 1);
  EXPECT_EQ(message.revision(), 2U);
  // Nothing of this concerns the path: the next message is of the revision after it.
  Update(server, BlockRequest("arena", {CellAt(1, 1)}));
  Update(server, CloseRequest("arena", "gate"));
  message = watch.Next();
  EXPECT_GE(message.answer().cost(), around);
  EXPECT_EQ(message.answer().crossings_size(), 0);
  EXPECT_EQ(message.revision(), 4U);
}

TEST_F(PortalTest, AWatchedPathStaysOnItsMap) {
  WatchOfPath watch(server_, PathRequest("upper", CellAt(0, 0), CellAt(4, 0)));
  EXPECT_EQ(watch.Next().answer().outcome(), v1::OUTCOME_UNREACHABLE);
}

}  // namespace
}  // namespace waystar
