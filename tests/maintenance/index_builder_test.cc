// The static index of a map, built by a running server while clients wait for nothing.

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/service/test_server.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Patience;
using ::waystar::testing::TestServer;

class IndexBuilderTest : public ::testing::Test {
 protected:
  IndexBuilderTest() {
    server_.Create("room", {"......", ".##.#.", "......"});
    request_.set_algorithm(v1::ALGORITHM_SUBGOAL_HIERARCHY);
  }

  v1::FindPathResponse Find() {
    const auto response = server_.client().FindPath(request_);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.value_or(v1::FindPathResponse());
  }

  // Asks until the index answers.
  v1::FindPathResponse FindByIndex() {
    v1::FindPathResponse response = Find();
    const Patience patience("an answer by the index");
    while (response.statistics().algorithm() != v1::ALGORITHM_SUBGOAL_HIERARCHY && !HasFailure() &&
           patience.Lasts()) {
      EXPECT_EQ(response.statistics().algorithm(), v1::ALGORITHM_JUMP_POINT_SEARCH);
      response = Find();
    }
    return response;
  }

  TestServer server_{{.static_index_quiet_time = absl::Milliseconds(20)}};
  v1::FindPathRequest request_ = PathRequest("room", CellAt(0, 1), CellAt(5, 1));
};

TEST_F(IndexBuilderTest, BuildsOnceAskedForAndAgainAfterAChange) {
  EXPECT_EQ(Find().statistics().algorithm(), v1::ALGORITHM_JUMP_POINT_SEARCH);
  const v1::FindPathResponse before = FindByIndex();
  EXPECT_EQ(before.cost(), 7.0);
  EXPECT_EQ(before.points_size(), 8);

  ASSERT_TRUE(server_.client().UpdateObstacles(BlockRequest("room", {CellAt(2, 0)})).ok());
  const v1::FindPathResponse changed = Find();
  EXPECT_EQ(changed.version().revision(), before.version().revision() + 1);
  EXPECT_EQ(changed.cost(), 7.0);

  ASSERT_TRUE(server_.client().UpdateObstacles(BlockRequest("room", {CellAt(2, 2)})).ok());
  EXPECT_EQ(Find().outcome(), v1::OUTCOME_UNREACHABLE);
  *request_.mutable_goals(0)->mutable_cell() = CellAt(0, 2);
  const v1::FindPathResponse after = FindByIndex();
  EXPECT_EQ(after.version().revision(), before.version().revision() + 2);
  EXPECT_EQ(after.cost(), 1.0);
}

TEST_F(IndexBuilderTest, RefusesWhatItCannotAnswer) {
  request_.mutable_agent()->set_footprint(2);
  EXPECT_THAT(server_.client().FindPath(request_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "ALGORITHM_UNSUITED", "algorithm"));
  request_.mutable_agent()->set_footprint(1);
  request_.mutable_agent()->set_corner_rule(v1::CORNER_RULE_ALWAYS);
  EXPECT_THAT(server_.client().FindPath(request_),
              IsRefused(absl::StatusCode::kFailedPrecondition, "ALGORITHM_UNSUITED", "algorithm"));
}

}  // namespace
}  // namespace waystar
