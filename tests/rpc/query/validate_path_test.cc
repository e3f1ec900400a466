// ValidatePath, by a real client over a real socket.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

v1::ValidatePathRequest ValidateRequest(const std::string& map, const std::vector<v1::Cell>& points) {
  v1::ValidatePathRequest request;
  request.set_map(map);
  request.mutable_points()->Assign(points.begin(), points.end());
  return request;
}

TEST(ValidatePathRpcTest, FoundPathIsValidUntilItIsBlocked) {
  TestServer server;
  server.Create("arena", {"....", "....", "...."});
  auto query = PathRequest("arena", CellAt(0, 0), CellAt(3, 0));
  query.set_path_form(v1::PATH_FORM_DIRECTIONS);
  const auto found = server.client().FindPath(query);
  ASSERT_TRUE(found.ok()) << found.status();
  auto request = ValidateRequest("arena", {CellAt(0, 0)});
  *request.mutable_directions() = found->directions();
  const auto valid = server.client().ValidatePath(request);
  ASSERT_TRUE(valid.ok()) << valid.status();
  EXPECT_TRUE(valid->walkable());
  EXPECT_EQ(valid->cost(), found->cost());
  EXPECT_EQ(valid->revision(), 1U);

  ASSERT_TRUE(server.client().UpdateObstacles(BlockRequest("arena", {CellAt(2, 0)})).ok());
  const auto blocked = server.client().ValidatePath(request);
  ASSERT_TRUE(blocked.ok()) << blocked.status();
  EXPECT_FALSE(blocked->walkable());
  EXPECT_EQ(blocked->blocked_index(), 1);
  EXPECT_EQ(blocked->blocked_cell().x(), 2);
  EXPECT_EQ(blocked->cost(), 1.0);
  EXPECT_EQ(blocked->revision(), 2U);
}

TEST(ValidatePathRpcTest, HonoursTheOverlay) {
  TestServer server;
  server.Create("arena", {"....", "...."});
  auto request = ValidateRequest("arena", {CellAt(0, 0), CellAt(3, 0)});
  *request.mutable_overlay()->mutable_blocked()->add_cells() = CellAt(1, 0);
  const auto blocked = server.client().ValidatePath(request);
  ASSERT_TRUE(blocked.ok()) << blocked.status();
  EXPECT_FALSE(blocked->walkable());
  EXPECT_EQ(blocked->blocked_index(), 1);
}

TEST(ValidatePathRpcTest, RefusesWhatIsNoPath) {
  TestServer server;
  server.Create("arena", {"....", "...."});
  client::Client& client = server.client();
  EXPECT_THAT(client.ValidatePath(ValidateRequest("nowhere", {CellAt(0, 0)})),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  EXPECT_THAT(client.ValidatePath(ValidateRequest("arena", {})),
              IsRefused(absl::StatusCode::kInvalidArgument, "MISSING_FIELD", "points"));
  EXPECT_THAT(client.ValidatePath(ValidateRequest("arena", {CellAt(0, 0), CellAt(4, 0)})),
              IsRefused(absl::StatusCode::kOutOfRange, "OFF_MAP", "points[1]"));
  auto request = ValidateRequest("arena", {CellAt(0, 0)});
  request.add_directions(v1::DIRECTION_SOUTH);
  request.add_directions(v1::DIRECTION_SOUTH);
  EXPECT_THAT(client.ValidatePath(request),
              IsRefused(absl::StatusCode::kOutOfRange, "OFF_MAP", "directions[1]"));
  *request.add_points() = CellAt(0, 1);
  EXPECT_THAT(client.ValidatePath(request),
              IsRefused(absl::StatusCode::kInvalidArgument, "BAD_VALUE", "points"));
  auto bad_rule = ValidateRequest("arena", {CellAt(0, 0)});
  bad_rule.set_footprint(33);
  EXPECT_THAT(client.ValidatePath(bad_rule),
              IsRefused(absl::StatusCode::kInvalidArgument, "BAD_VALUE", "footprint"));
}

}  // namespace
}  // namespace waystar
