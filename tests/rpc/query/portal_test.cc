// Portals over the wire: laid, listed, gone through and validated.

#include <string>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;
using ::waystar::testing::Update;

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

  TestServer server_;
};

TEST_F(PortalTest, APathMayGoByAnotherMap) {
  const v1::FindPathResponse found = server_.Find(PathRequest("upper", CellAt(0, 0), CellAt(4, 0)));
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
  const v1::FindPathResponse found = server_.Find(request);
  EXPECT_NEAR(found.cost(), 2 + 1.4142135, 1e-6);
  EXPECT_EQ(found.directions_size(), 2);
  EXPECT_EQ(found.crossings(0).index(), 1);
}

TEST_F(PortalTest, MapsTellTheirWorld) {
  v1::GridOptions elsewhere;
  elsewhere.set_world("moon");
  server_.Create("crater", {"..."}, elsewhere);
  v1::GetMapRequest get;
  get.set_map("crater");
  EXPECT_EQ(server_.client().GetMap(get)->info().grid().world(), "moon");
}

// What portals do to each is for the tests of the core; here is that each is told of them.
TEST_F(PortalTest, FieldsGoByOtherMapsToo) {
  v1::CheckReachabilityRequest reachability;
  reachability.set_map("upper");
  v1::CellPair& pair = *reachability.add_pairs();
  *pair.mutable_start() = CellAt(0, 0);
  *pair.mutable_goal() = CellAt(4, 0);
  EXPECT_THAT(server_.client().CheckReachability(reachability)->reachable(), ElementsAre(true));
  v1::SampleCellsRequest sample;
  sample.set_map("upper");
  sample.set_count(1);
  *sample.mutable_reachable_from() = CellAt(0, 0);
  EXPECT_EQ(server_.client().SampleCells(sample)->candidates(), 8);
  v1::ComputeCostMatrixRequest matrix;
  matrix.set_map("upper");
  *matrix.add_sources() = CellAt(0, 0);
  *matrix.add_targets() = CellAt(4, 0);
  EXPECT_THAT(server_.client().ComputeCostMatrix(matrix)->costs(), ElementsAre(6.0));
}

TEST_F(PortalTest, AFlowFieldTellsOfItsPortals) {
  Update(server_, PortalRequest("upper", "gap", CellAt(1, 1), CellAt(3, 1)));
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
    const v1::FindPathResponse found = server_.Find(query);
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

}  // namespace
}  // namespace waystar
