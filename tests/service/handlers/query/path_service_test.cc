// PathService, asked by a real client over a real socket.

#include <cstdint>

#include "gmock/gmock.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::LocationAt;
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
  EXPECT_EQ(response.version().revision(), 1U);
  EXPECT_GT(response.statistics().expanded(), 0U);
  EXPECT_GE(response.statistics().generated(), response.statistics().expanded());
  EXPECT_GT(response.statistics().queue_time().nanos(), 0);
  EXPECT_GT(response.statistics().search_time().nanos(), 0);
  EXPECT_EQ(response.statistics().algorithm(), v1::ALGORITHM_ASTAR);
}

TEST_F(PathServiceTest, SeesEveryUpdateThatWasAnswered) {
  const v1::FindPathRequest request = PathRequest("room", CellAt(0, 1), CellAt(3, 1));
  const auto updated = server_.client().UpdateObstacles(BlockRequest("room", {CellAt(1, 0)}));
  ASSERT_TRUE(updated.ok()) << updated.status();
  const v1::FindPathResponse response = server_.Find(request);
  EXPECT_EQ(response.version().revision(), updated->version().revision());
  EXPECT_EQ(Show(response.points()), "(0, 1) (0, 2) (1, 2) (2, 2) (3, 2) (3, 1)");
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

}  // namespace
}  // namespace waystar
