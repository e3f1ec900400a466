#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::waystar::testing::Refusal;

class ValidateCommandTest : public ::waystar::testing::CommandTest {
 protected:
  ValidateCommandTest() {
    server_.validate_path = [this](auto&, const v1::ValidatePathRequest& request,
                                   v1::ValidatePathResponse& response) {
      request_ = request;
      response = response_;
      return grpc::Status::OK;
    };
    response_.set_cost(4.5);
    response_.mutable_version()->set_revision(7);
  }

  v1::ValidatePathRequest request_;
  v1::ValidatePathResponse response_;
};

TEST_F(ValidateCommandTest, TellsTheCostOfAPathThatCanBeWalked) {
  response_.set_walkable(true);
  EXPECT_EQ(
      Run({"validate", "arena", "1,1", "1,9", "--smoothed", "--footprint", "2", "--corner-rule", "always"}),
      ExitCode::kOk);
  EXPECT_EQ(out_, "Walkable at cost 4.5, at revision 7.\n");
  EXPECT_EQ(request_.map(), "arena");
  ASSERT_EQ(request_.points_size(), 2);
  EXPECT_EQ(request_.points(1).y(), 9);
  EXPECT_EQ(request_.agent().footprint(), 2);
  EXPECT_EQ(request_.agent().corner_rule(), v1::CORNER_RULE_ALWAYS);
  EXPECT_EQ(request_.path_form(), v1::PATH_FORM_SMOOTHED);
  EXPECT_FALSE(request_.has_view());
}

TEST_F(ValidateCommandTest, TellsWhereAPathIsBlocked) {
  response_.set_blocked_index(1);
  response_.mutable_blocked_cell()->set_y(5);
  EXPECT_EQ(Run({"validate", "arena", "0,0", "0,9", "--block", "3,4..6,9", "--ignore-obstacle", "me"}),
            ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr("Blocked at 0,5, on the way to point 1, after cost 4.5"));
  EXPECT_EQ(request_.view().overlay().blocked().rectangles_size(), 1);
  ASSERT_EQ(request_.view().overlay().ignored_obstacles_size(), 1);
  EXPECT_EQ(request_.view().overlay().ignored_obstacles(0), "me");
}

TEST_F(ValidateCommandTest, ChecksNodesAndPositionsOfAGraph) {
  response_.set_walkable(true);
  EXPECT_EQ(Run({"validate", "islands", "harbour", "ford", "--start-position", "-1,0",
                 "--goal-position=7,0,2", "--require-tag", "dry"}),
            ExitCode::kOk)
      << err_;
  EXPECT_EQ(out_, "Walkable at cost 4.5, at revision 7.\n");
  EXPECT_EQ(request_.points_size(), 0);
  ASSERT_EQ(request_.nodes_size(), 2);
  EXPECT_EQ(request_.nodes(1), "ford");
  EXPECT_EQ(request_.start_position().x(), -1);
  EXPECT_EQ(request_.goal_position().z(), 2);
  EXPECT_EQ(request_.agent().profile().required_tags(0), "dry");
  EXPECT_EQ(Run({"validate", "islands", "--start-position", "-1,0", "--goal-position", "7,0"}), ExitCode::kOk)
      << "the two may see each other";
  EXPECT_EQ(Run({"validate", "islands", "--start-position", "-1,0"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("POINTS is required"));
  EXPECT_EQ(Run({"validate", "islands", "harbour", "1,1"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("POINTS are cells or nodes, not both"));
}

TEST_F(ValidateCommandTest, TellsWhichNodeAPathIsBlockedBefore) {
  response_.set_blocked_index(1);
  EXPECT_EQ(Run({"validate", "islands", "harbour", "ford"}), ExitCode::kNoPath);
  EXPECT_EQ(out_, "Blocked on the way to node 1, ford, after cost 4.5, at revision 7.\n");
  response_.set_blocked_by("crane");
  EXPECT_EQ(Run({"validate", "islands", "harbour", "ford"}), ExitCode::kNoPath);
  EXPECT_EQ(out_, "Blocked by crane on the way to node 1, ford, after cost 4.5, at revision 7.\n");
  response_.set_blocked_index(2);
  EXPECT_EQ(Run({"validate", "islands", "harbour", "ford", "--goal-position", "7,0"}), ExitCode::kNoPath);
  EXPECT_EQ(out_, "Blocked by crane on the way to the goal, after cost 4.5, at revision 7.\n");
}

TEST_F(ValidateCommandTest, ChecksTheCornersOfAMesh) {
  response_.set_blocked_index(2);
  response_.mutable_blocked_position()->set_x(4.25);
  response_.mutable_blocked_position()->set_z(3);
  EXPECT_EQ(Run({"validate", "keep", "2,10", "4.5,12", "20,12", "23,2,4"}), ExitCode::kNoPath) << err_;
  EXPECT_EQ(out_, "Blocked at 4.25,0,3, on the way to corner 2, after cost 4.5, at revision 7.\n");
  EXPECT_EQ(request_.points_size(), 0);
  ASSERT_EQ(request_.positions_size(), 4);
  EXPECT_EQ(request_.positions(0).y(), 10);
  EXPECT_EQ(request_.positions(1).x(), 4.5);
  EXPECT_EQ(request_.positions(2).x(), 20);
  EXPECT_EQ(request_.positions(3).z(), 4);
  response_.clear_blocked_position();
  response_.set_blocked_index(0);
  EXPECT_EQ(Run({"validate", "keep", "2,10,0"}), ExitCode::kNoPath);
  EXPECT_EQ(out_, "Blocked: corner 0 is not on the surface, at revision 7.\n");
}

class WatchPathCommandTest : public ::waystar::testing::CommandTest {
 protected:
  WatchPathCommandTest() {
    server_.watch_path = [this](auto&, const v1::WatchPathRequest& request,
                                std::vector<v1::WatchPathResponse>& messages) {
      request_ = request;
      messages.resize(2);
      v1::FindPathResponse& answer = *messages[0].mutable_answer();
      answer.set_outcome(v1::OUTCOME_FOUND);
      answer.set_reason(v1::REASON_GOAL_REACHED);
      answer.set_cost(1);
      answer.add_points();
      answer.add_points()->set_x(1);
      answer.mutable_end()->set_x(1);
      messages[1].mutable_problem()->set_message("the start (0, 0) is blocked by an obstacle");
      messages[1].mutable_version()->set_revision(9);
      return Refusal(grpc::StatusCode::NOT_FOUND, "the map was deleted", "MAP_NOT_FOUND", "query.map");
    };
  }

  v1::WatchPathRequest request_;
};

TEST_F(WatchPathCommandTest, TellsOfEveryAnswerUntilTheEnd) {
  EXPECT_EQ(Run({"watch-path", "arena", "0,0", "1,0", "--form", "corners"}), ExitCode::kRefused);
  EXPECT_EQ(request_.query().map(), "arena");
  EXPECT_EQ(request_.query().goals(0).cell().x(), 1);
  EXPECT_EQ(request_.query().path_form(), v1::PATH_FORM_CORNERS);
  EXPECT_THAT(out_, HasSubstr("0,0 1,0\n"));
  EXPECT_THAT(out_, HasSubstr("No answer at revision 9: the start (0, 0) is blocked"));
  EXPECT_THAT(err_, HasSubstr("the map was deleted"));
}

TEST_F(WatchPathCommandTest, EndsAfterSoManyAnswers) {
  EXPECT_EQ(Run({"watch-path", "arena", "0,0", "1,0", "--count", "1", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("\"outcome\":\"OUTCOME_FOUND\""));
  EXPECT_THAT(out_, Not(HasSubstr("problem")));
}

TEST_F(WatchPathCommandTest, ListsNodesOfAGraph) {
  server_.watch_path = [](auto&, const auto&, std::vector<v1::WatchPathResponse>& messages) {
    messages.resize(2);
    v1::FindPathResponse& found = *messages[0].mutable_answer();
    found.set_outcome(v1::OUTCOME_FOUND);
    found.set_cost(12);
    for (const char* node : {"harbour", "ford", "lighthouse"}) {
      found.add_nodes(node);
      found.add_positions();
    }
    v1::FindPathResponse& lost = *messages[1].mutable_answer();
    lost.set_outcome(v1::OUTCOME_UNREACHABLE);
    lost.set_reason(v1::REASON_NO_ROUTE);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"watch-path", "islands", "harbour", "lighthouse", "--count", "2"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, HasSubstr("Path found: 3 nodes at cost 12 "));
  EXPECT_THAT(out_, HasSubstr("\nharbour ford lighthouse\nNo path to the goal: no edges lead there"));
}

}  // namespace
}  // namespace waystar::cli
