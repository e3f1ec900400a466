// What handlers make of portals: crossings of answers, and paths through portals that are validated.

#include <string>

#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::About;
using ::waystar::testing::CellAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::LocationAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;

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
    auto request = About<v1::UpdateObstaclesRequest>(map);
    v1::Portal& portal = *request.add_edits()->mutable_put_portal()->mutable_portal();
    portal.set_id(id);
    *portal.mutable_from() = cell;
    *portal.mutable_to() = cell;
    portal.set_to_map(to_map);
    portal.set_cost(1);
    ASSERT_THAT(Update(request), IsOk());
  }

  void SwitchUp(bool closed) {
    auto request = About<v1::UpdateObstaclesRequest>("lower");
    v1::SwitchPortal& edit = *request.add_edits()->mutable_switch_portal();
    edit.set_id("up");
    edit.set_closed(closed);
    ASSERT_THAT(Update(request), IsOk());
  }
};

TEST_F(PortalTest, CrossingsAreTold) {
  const auto found = Find(PathRequest("upper", CellAt(0, 0), CellAt(4, 0))).value();
  EXPECT_EQ(found.cost(), 6.0);
  EXPECT_EQ(Show(found.points()), "(0, 0) (1, 0) (1, 0) (2, 0) (3, 0) (3, 0) (4, 0)");
  ASSERT_EQ(found.crossings_size(), 2);
  EXPECT_EQ(found.crossings(0).portal(), "down");
  EXPECT_EQ(found.crossings(0).index(), 2);
  EXPECT_EQ(found.crossings(0).map(), "lower");
  EXPECT_EQ(found.crossings(0).map_version().revision(), 2U);
  EXPECT_EQ(found.crossings(1).portal(), "up");
  EXPECT_EQ(found.crossings(1).map(), "upper");
  EXPECT_EQ(found.crossings(1).arrival().x(), 3);
}

TEST_F(PortalTest, FieldsGoByOtherMapsToo) {
  auto reachability = About<v1::CheckReachabilityRequest>("upper");
  v1::LocationPair& pair = *reachability.add_pairs();
  *pair.mutable_start() = LocationAt(0, 0);
  *pair.mutable_goal() = LocationAt(4, 0);
  const auto reachable = Ask<v1::CheckReachabilityResponse>(reachability).value();
  EXPECT_TRUE(reachable.reachable(0));
  auto sample = About<v1::SampleCellsRequest>("upper");
  sample.set_count(1);
  *sample.mutable_reachable_from() = LocationAt(0, 0);
  const auto sampled = Ask<v1::SampleCellsResponse>(sample).value();
  EXPECT_EQ(sampled.candidates(), 8);
  auto matrix = About<v1::ComputeCostMatrixRequest>("upper");
  *matrix.add_starts() = LocationAt(0, 0);
  *matrix.add_goals() = LocationAt(4, 0);
  const auto costs = Ask<v1::ComputeCostMatrixResponse>(matrix).value();
  EXPECT_EQ(costs.costs(0), 6.0);
}

TEST_F(PortalTest, AFoundPathIsValidUntilAPortalOfItCloses) {
  for (const v1::PathForm form :
       {v1::PATH_FORM_EVERY_CELL, v1::PATH_FORM_CORNERS, v1::PATH_FORM_DIRECTIONS}) {
    SCOPED_TRACE(v1::PathForm_Name(form));
    v1::FindPathRequest query = PathRequest("upper", CellAt(0, 0), CellAt(4, 0));
    query.set_path_form(form);
    const auto found = Find(query).value();
    auto request = About<v1::ValidatePathRequest>("upper");
    *request.mutable_points() = found.points();
    *request.mutable_directions() = found.directions();
    *request.mutable_crossings() = found.crossings();
    request.set_path_form(form);
    if (form == v1::PATH_FORM_DIRECTIONS) {
      *request.add_points() = CellAt(0, 0);
    }
    auto valid = Validate(request);
    ASSERT_TRUE(valid.ok()) << valid.status();
    EXPECT_TRUE(valid->walkable());
    EXPECT_EQ(valid->cost(), found.cost());

    SwitchUp(/*closed=*/true);
    valid = Validate(request);
    ASSERT_TRUE(valid.ok()) << valid.status();
    EXPECT_FALSE(valid->walkable());
    EXPECT_EQ(valid->cost(), 4.0);
    EXPECT_EQ(valid->blocked_cell().x(), 3);
    EXPECT_EQ(valid->blocked_index(), form == v1::PATH_FORM_DIRECTIONS ? 3
                                      : form == v1::PATH_FORM_CORNERS  ? 4
                                                                       : 5);
    SwitchUp(/*closed=*/false);
  }
}

TEST_F(PortalTest, CrossingsThatFitNoPathAreRefused) {
  auto request = About<v1::ValidatePathRequest>("upper");
  *request.add_points() = CellAt(0, 0);
  *request.add_points() = CellAt(1, 0);
  for (const int index : {-1, 0, 2, 1'000'000}) {
    request.clear_crossings();
    request.add_crossings()->set_index(index);
    EXPECT_THAT(Validate(request), IsError(kInvalid, ErrorReason::kBadValue, "crossings[0].index"));
  }
}

}  // namespace
}  // namespace waystar
