// ValidatePath.

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
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

v1::ValidatePathRequest ValidateRequest(const std::string& map, const std::vector<v1::Cell>& points) {
  auto request = About<v1::ValidatePathRequest>(map);
  request.mutable_points()->Assign(points.begin(), points.end());
  return request;
}

TEST(ValidatePathRpcTest, FoundPathIsValidUntilItIsBlocked) {
  TestServer server;
  server.Create("arena", {"....", "....", "...."});
  auto query = PathRequest("arena", CellAt(0, 0), CellAt(3, 0));
  query.set_path_form(v1::PATH_FORM_DIRECTIONS);
  const auto found = server.client().FindPath(query).value();
  auto request = ValidateRequest("arena", {CellAt(0, 0)});
  *request.mutable_directions() = found.directions();
  const auto valid = server.client().ValidatePath(request).value();
  EXPECT_TRUE(valid.walkable());
  EXPECT_EQ(valid.cost(), found.cost());
  EXPECT_EQ(valid.version().revision(), 1U);

  ASSERT_TRUE(server.client().UpdateObstacles(BlockRequest("arena", {CellAt(2, 0)})).ok());
  const auto blocked = server.client().ValidatePath(request).value();
  EXPECT_FALSE(blocked.walkable());
  EXPECT_EQ(blocked.blocked_index(), 1);
  EXPECT_EQ(blocked.blocked_cell().x(), 2);
  EXPECT_EQ(blocked.cost(), 1.0);
  EXPECT_EQ(blocked.version().revision(), 2U);
}

class ValidatePathHandlerTest : public HandlerTest {
 protected:
  ValidatePathHandlerTest() { Create("arena", {"....", "...."}); }
};

TEST_F(ValidatePathHandlerTest, ProfileAndOverlayAreTheAgents) {
  auto request = ValidateRequest("arena", {CellAt(0, 0), CellAt(3, 0)});
  *request.mutable_view()->mutable_overlay()->mutable_blocked()->add_cells() = CellAt(1, 0);
  const auto blocked = Validate(request).value();
  EXPECT_FALSE(blocked.walkable());
  EXPECT_EQ(blocked.blocked_index(), 1);
  request.clear_view();
  request.mutable_agent()->mutable_profile()->set_footprint(2);
  EXPECT_FALSE(Validate(request)->walkable());
}

TEST_F(ValidatePathHandlerTest, RefusesWhatIsNoPath) {
  EXPECT_THAT(Validate(ValidateRequest("nowhere", {CellAt(0, 0)})),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  EXPECT_THAT(Validate(ValidateRequest("arena", {})),
              IsError(kInvalid, ErrorReason::kMissingField, "points"));
  EXPECT_THAT(Validate(ValidateRequest("arena", {CellAt(0, 0), CellAt(4, 0)})),
              IsError(kOutOfRange, ErrorReason::kOffMap, "points[1]"));
  auto request = ValidateRequest("arena", {CellAt(0, 0)});
  request.add_directions(v1::DIRECTION_SOUTH);
  request.add_directions(v1::DIRECTION_SOUTH);
  EXPECT_THAT(Validate(request), IsError(kOutOfRange, ErrorReason::kOffMap, "directions[1]"));
  *request.add_points() = CellAt(0, 1);
  EXPECT_THAT(Validate(request), IsError(kInvalid, ErrorReason::kBadValue, "points"));
  auto positions = ValidateRequest("arena", {CellAt(0, 0)});
  positions.add_positions();
  EXPECT_THAT(Validate(positions),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "positions"));
  auto bad_rule = ValidateRequest("arena", {CellAt(0, 0)});
  bad_rule.mutable_agent()->set_footprint(33);
  EXPECT_THAT(Validate(bad_rule), IsError(kInvalid, ErrorReason::kBadValue, "agent.footprint"));
}

}  // namespace
}  // namespace waystar
