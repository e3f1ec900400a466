// Movement profiles over the wire.

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

class ProfileTest : public ::testing::Test {
 protected:
  v1::FindPathResponse Find(const v1::FindPathRequest& query) {
    const auto found = server_.client().FindPath(query);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : v1::FindPathResponse();
  }

  TestServer server_;
};

TEST_F(ProfileTest, FootprintAndCornerRuleAreTheAgents) {
  server_.Create("gate", {".....",  //
                          "..#..",  //
                          "#...#",  //
                          "#####"});
  v1::FindPathRequest query = PathRequest("gate", CellAt(1, 1), CellAt(2, 2));
  EXPECT_DOUBLE_EQ(Find(query).cost(), 2.0);
  query.mutable_profile()->set_corner_rule(v1::CORNER_RULE_ONE_SIDE_FREE);
  EXPECT_NEAR(Find(query).cost(), 1.4142135, 1e-6);
  query.mutable_profile()->set_footprint(2);
  EXPECT_THAT(server_.client().FindPath(query),
              IsRefused(absl::StatusCode::kFailedPrecondition, "START_BLOCKED", "start"));
  // The query's own words win.
  query.set_footprint(1);
  query.set_corner_rule(v1::CORNER_RULE_NO_CORNER_CUTTING);
  EXPECT_DOUBLE_EQ(Find(query).cost(), 2.0);
}

TEST_F(ProfileTest, BadValuesNameTheField) {
  server_.Create("gate", {"..", ".."});
  v1::FindPathRequest query = PathRequest("gate", CellAt(0, 0), CellAt(1, 1));
  query.mutable_profile()->set_footprint(33);
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kInvalid, "BAD_VALUE", "profile.footprint"));
  query.mutable_profile()->set_footprint(-1);
  EXPECT_THAT(server_.client().FindPath(query), IsRefused(kInvalid, "BAD_VALUE", "profile.footprint"));
  query.mutable_profile()->set_footprint(0);
  query.mutable_profile()->set_corner_rule(static_cast<v1::CornerRule>(77));
  EXPECT_THAT(server_.client().FindPath(query),
              IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "profile.corner_rule"));
}

TEST_F(ProfileTest, ValidationGoesByTheSameProfile) {
  server_.Create("gate", {"...", ".#.", "..."});
  v1::ValidatePathRequest request;
  request.set_map("gate");
  *request.add_points() = CellAt(0, 0);
  *request.add_points() = CellAt(1, 0);
  EXPECT_TRUE(server_.client().ValidatePath(request)->walkable());
  request.mutable_profile()->set_footprint(2);
  EXPECT_FALSE(server_.client().ValidatePath(request)->walkable());
}

}  // namespace
}  // namespace waystar
