#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::Refusal;

class ObstacleCommandTest : public ::waystar::testing::CommandTest {
 protected:
  ObstacleCommandTest() {
    server_.update_obstacles = [this](auto&, const v1::UpdateObstaclesRequest& request,
                                      v1::UpdateObstaclesResponse& response) {
      request_ = request;
      response.mutable_version()->set_revision(8);
      response.set_changed_cells(21);
      return grpc::Status::OK;
    };
  }

  v1::UpdateObstaclesRequest request_;
};

TEST_F(ObstacleCommandTest, PutsWhatBlocks) {
  EXPECT_EQ(Run({"obstacle", "put", "arena", "gate", "10,3..10,12", "disc:4,4,1.5"}), ExitCode::kOk);
  EXPECT_EQ(request_.map(), "arena");
  ASSERT_EQ(request_.edits_size(), 1);
  const v1::PutObstacle& put = request_.edits(0).put_obstacle();
  EXPECT_EQ(put.obstacle().id(), "gate");
  EXPECT_EQ(put.obstacle().shape().rectangles_size(), 1);
  EXPECT_EQ(put.obstacle().shape().discs_size(), 1);
  EXPECT_EQ(put.obstacle().effect_case(), v1::Obstacle::EFFECT_NOT_SET);
  EXPECT_FALSE(put.obstacle().has_lifetime());
  EXPECT_FALSE(put.replace());
  EXPECT_EQ(out_, "arena is now at revision 8: 21 cells changed.\n");
}

TEST_F(ObstacleCommandTest, PutsWhatCostsForAWhile) {
  EXPECT_EQ(Run({"obstacle", "put", "arena", "fire", "disc:20,8,3.5", "--add", "-5", "--falloff", "linear",
                 "--lifetime", "1500ms", "--replace", "--request-id", "r-1"}),
            ExitCode::kOk)
      << err_;
  const v1::PutObstacle& put = request_.edits(0).put_obstacle();
  EXPECT_EQ(put.obstacle().cost_addition(), -5);
  EXPECT_EQ(put.obstacle().falloff(), v1::FALLOFF_LINEAR);
  EXPECT_EQ(put.obstacle().lifetime().seconds(), 1);
  EXPECT_EQ(put.obstacle().lifetime().nanos(), 500'000'000);
  EXPECT_TRUE(put.replace());
  EXPECT_EQ(request_.request_id(), "r-1");

  EXPECT_EQ(Run({"obstacle", "put", "arena", "mud", "3,4", "--factor", "2.5"}), ExitCode::kOk);
  EXPECT_EQ(request_.edits(0).put_obstacle().obstacle().cost_factor(), 2.5);
}

TEST_F(ObstacleCommandTest, AnEffectIsOneOfTwo) {
  EXPECT_EQ(Run({"obstacle", "put", "arena", "mud", "3,4", "--factor", "2", "--add", "1"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"obstacle", "put", "arena", "mud", "3,4", "--falloff", "steep"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"obstacle", "put", "arena", "mud"}), ExitCode::kUsage);
  EXPECT_EQ(request_.edits_size(), 0);
}

TEST_F(ObstacleCommandTest, Moves) {
  EXPECT_EQ(Run({"obstacle", "move", "arena", "cart", "-1.5,2"}), ExitCode::kOk) << err_;
  EXPECT_EQ(request_.edits(0).move_obstacle().id(), "cart");
  EXPECT_EQ(request_.edits(0).move_obstacle().dx(), -1.5);
  EXPECT_EQ(request_.edits(0).move_obstacle().dy(), 2);
  EXPECT_EQ(Run({"obstacle", "move", "arena", "cart", "north"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("'north' is not a shift: write DX,DY"));
}

TEST_F(ObstacleCommandTest, Resizes) {
  EXPECT_EQ(Run({"obstacle", "resize", "arena", "fire", "disc:20,8,5"}), ExitCode::kOk);
  EXPECT_EQ(request_.edits(0).resize_obstacle().id(), "fire");
  EXPECT_EQ(request_.edits(0).resize_obstacle().shape().discs(0).radius(), 5);
}

TEST_F(ObstacleCommandTest, RemovesAllInOneBatch) {
  EXPECT_EQ(Run({"obstacle", "remove", "arena", "fire-1", "fire-2", "--expect-revision", "7",
                 "--expect-epoch", "5"}),
            ExitCode::kOk);
  ASSERT_EQ(request_.edits_size(), 2);
  EXPECT_EQ(request_.edits(0).remove_obstacle().id(), "fire-1");
  EXPECT_EQ(request_.edits(1).remove_obstacle().id(), "fire-2");
  EXPECT_EQ(request_.expected_version().revision(), 7);
}

TEST_F(ObstacleCommandTest, ARefusalHintsAtWhatToDo) {
  server_.update_obstacles = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::ALREADY_EXISTS, "there is an obstacle \"gate\" already",
                   "OBSTACLE_EXISTS", "edits[0].put_obstacle.obstacle.id");
  };
  EXPECT_EQ(Run({"obstacle", "put", "arena", "gate", "3,4"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("--replace"));
}

TEST_F(ObstacleCommandTest, ListsAllPages) {
  std::vector<v1::ListObstaclesRequest> requests;
  server_.list_obstacles = [&requests](auto&, const v1::ListObstaclesRequest& request,
                                       v1::ListObstaclesResponse& response) {
    requests.push_back(request);
    response.mutable_version()->set_revision(9);
    v1::Obstacle& obstacle = *response.add_obstacles();
    if (request.page_token().empty()) {
      obstacle.set_id("fire");
      obstacle.set_cost_addition(5);
      obstacle.set_falloff(v1::FALLOFF_LINEAR);
      obstacle.mutable_lifetime()->set_seconds(12);
      obstacle.mutable_shape()->add_discs()->set_radius(3.5);
      response.set_next_page_token("fire");
    } else {
      obstacle.set_id("gate");
      obstacle.mutable_shape()->add_cells()->set_x(3);
    }
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"obstacle", "list", "arena", "--region", "1,2+3x4"}), ExitCode::kOk);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].region().height(), 4);
  EXPECT_EQ(requests[1].page_token(), "fire");
  EXPECT_EQ(out_,
            "OBSTACLE  EFFECT                STAYS  SHAPE\n"
            "fire      cost + 5 falling off  12s    disc:0,0,3.5\n"
            "gate      blocks                -      3,0\n");
  EXPECT_EQ(Run({"obstacle", "list", "arena", "--names"}), ExitCode::kOk);
  EXPECT_EQ(out_, "fire\ngate\n");
  EXPECT_EQ(Run({"obstacle", "list", "arena", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\"revision\":\"9\""));
}

}  // namespace
}  // namespace waystar::cli
