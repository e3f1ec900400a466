// PathService, asked by a real client over a real socket.

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
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
  EXPECT_EQ(response.reason(), v1::REASON_GOAL_REACHED);
  EXPECT_EQ(response.cost(), 5.0);
  EXPECT_EQ(Show(response.points()), "(0, 1) (0, 0) (1, 0) (2, 0) (3, 0) (3, 1)");
  EXPECT_EQ(response.directions_size(), 0);
  EXPECT_EQ(response.end().x(), 3);
  EXPECT_EQ(response.end().y(), 1);
  EXPECT_EQ(response.revision(), 1U);
  EXPECT_GT(response.statistics().expanded(), 0U);
  EXPECT_GE(response.statistics().generated(), response.statistics().expanded());
  EXPECT_GT(response.statistics().queue_nanos(), 0);
  EXPECT_GT(response.statistics().search_nanos(), 0);
  EXPECT_EQ(response.statistics().algorithm(), v1::ALGORITHM_ASTAR);
}

TEST_F(PathServiceTest, HonoursEachOption) {
  v1::FindPathRequest request = PathRequest("room", CellAt(0, 1), CellAt(3, 1));
  request.set_algorithm(v1::ALGORITHM_ASTAR);
  request.set_path_form(v1::PATH_FORM_CORNERS);
  EXPECT_EQ(Show(server_.Find(request).points()), "(0, 1) (0, 0) (3, 0) (3, 1)");

  request.set_path_form(v1::PATH_FORM_DIRECTIONS);
  request.set_corner_rule(v1::CORNER_RULE_ONE_SIDE_FREE);
  request.set_algorithm(v1::ALGORITHM_DIJKSTRA);
  const v1::FindPathResponse response = server_.Find(request);
  EXPECT_EQ(response.points_size(), 0);
  EXPECT_THAT(response.directions(),
              ::testing::ElementsAre(v1::DIRECTION_NORTH_EAST, v1::DIRECTION_EAST, v1::DIRECTION_SOUTH_EAST));
  EXPECT_NEAR(response.cost(), 1 + 2 * 1.4142135623730951, 1e-12);
  EXPECT_EQ(response.statistics().algorithm(), v1::ALGORITHM_DIJKSTRA);

  request.set_max_expansions(1);
  EXPECT_EQ(server_.Find(request).outcome(), v1::OUTCOME_BUDGET_EXHAUSTED);
  EXPECT_EQ(server_.Find(request).reason(), v1::REASON_EXPANSION_LIMIT);
}

TEST_F(PathServiceTest, UnreachableGoalIsAnAnswer) {
  server_.Create("walls", {"..#.", "..##"});
  v1::FindPathRequest request = PathRequest("walls", CellAt(0, 0), CellAt(3, 0));
  const v1::FindPathResponse report = server_.Find(request);
  EXPECT_EQ(report.outcome(), v1::OUTCOME_UNREACHABLE);
  EXPECT_EQ(report.reason(), v1::REASON_NO_ROUTE);
  EXPECT_FALSE(report.has_end());
  EXPECT_EQ(report.revision(), 1U);

  request.set_unreachable_policy(v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE);
  const v1::FindPathResponse nearest = server_.Find(request);
  EXPECT_EQ(nearest.outcome(), v1::OUTCOME_PARTIAL);
  EXPECT_EQ(Show(nearest.points()), "(0, 0) (1, 0)");

  *request.mutable_goal() = CellAt(2, 0);
  EXPECT_EQ(server_.Find(request).reason(), v1::REASON_GOAL_BLOCKED);
}

TEST_F(PathServiceTest, SeesEveryUpdateThatWasAnswered) {
  const v1::FindPathRequest request = PathRequest("room", CellAt(0, 1), CellAt(3, 1));
  const auto updated = server_.client().UpdateObstacles(BlockRequest("room", {CellAt(1, 0)}));
  ASSERT_TRUE(updated.ok()) << updated.status();
  const v1::FindPathResponse response = server_.Find(request);
  EXPECT_EQ(response.revision(), updated->revision());
  EXPECT_EQ(Show(response.points()), "(0, 1) (0, 2) (1, 2) (2, 2) (3, 2) (3, 1)");
}

TEST_F(PathServiceTest, RefusesBadQueriesNamingTheField) {
  const auto find = [&](const v1::FindPathRequest& request) { return server_.client().FindPath(request); };
  const v1::FindPathRequest good = PathRequest("room", CellAt(0, 0), CellAt(3, 2));
  v1::FindPathRequest request = good;

  request.set_map("nowhere");
  EXPECT_THAT(find(request), IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  for (const std::string& id :
       {std::string(), std::string("../x"), std::string("Room"), std::string(64, 'a')}) {
    request.set_map(id);
    EXPECT_THAT(find(request), IsRefused(kInvalid, "BAD_MAP_ID", "map")) << id;
  }

  request = good;
  request.clear_start();
  EXPECT_THAT(find(request), IsRefused(kInvalid, "MISSING_FIELD", "start"));
  request = good;
  request.clear_goal();
  EXPECT_THAT(find(request), IsRefused(kInvalid, "MISSING_FIELD", "goal"));

  request = good;
  *request.mutable_start() = CellAt(INT32_MIN, INT32_MAX);
  EXPECT_THAT(find(request), IsRefused(absl::StatusCode::kOutOfRange, "OFF_MAP", "start"));
  request = good;
  *request.mutable_start() = CellAt(1, 1);
  EXPECT_THAT(find(request), IsRefused(absl::StatusCode::kFailedPrecondition, "START_BLOCKED", "start"));
  request = good;
  *request.mutable_goal() = CellAt(1, 1);
  EXPECT_THAT(find(request), IsRefused(absl::StatusCode::kFailedPrecondition, "GOAL_BLOCKED", "goal"));

  request = good;
  request.set_corner_rule(static_cast<v1::CornerRule>(99));
  EXPECT_THAT(find(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "corner_rule"));
  request = good;
  request.set_algorithm(static_cast<v1::Algorithm>(99));
  EXPECT_THAT(find(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "algorithm"));
  request = good;
  request.set_unreachable_policy(static_cast<v1::UnreachablePolicy>(-1));
  EXPECT_THAT(find(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "unreachable_policy"));
  request = good;
  request.set_path_form(static_cast<v1::PathForm>(99));
  EXPECT_THAT(find(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "path_form"));
}

TEST(PathServiceLimitsTest, PathOverTheMessageLimitAsksForAnotherForm) {
  TestServer server({.max_message_bytes = 4096});
  v1::CreateMapRequest create;
  create.set_map("long");
  create.mutable_blank()->set_width(2000);
  create.mutable_blank()->set_height(1);
  ASSERT_TRUE(server.client().CreateMap(create).ok());
  v1::FindPathRequest request = PathRequest("long", CellAt(0, 0), CellAt(1999, 0));
  EXPECT_THAT(server.client().FindPath(request),
              IsRefused(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE", "path_form"));
  request.set_path_form(v1::PATH_FORM_DIRECTIONS);
  const auto directions = server.client().FindPath(request);
  ASSERT_TRUE(directions.ok()) << directions.status();
  EXPECT_EQ(directions->directions_size(), 1999);
}

}  // namespace
}  // namespace waystar
