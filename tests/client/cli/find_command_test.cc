#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/cells.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::waystar::testing::At;
using ::waystar::testing::Refusal;

class FindCommandTest : public ::waystar::testing::CommandTest {
 protected:
  FindCommandTest() {
    server_.find_path = [this](auto&, const v1::FindPathRequest& request, v1::FindPathResponse& response) {
      request_ = request;
      response = answer_;
      return grpc::Status::OK;
    };
    v1::MapInfo info;
    info.mutable_version()->set_revision(3);
    server_.ServeMap(info, {"..#..",  //
                            "..#..",  //
                            "....."});
    answer_.set_outcome(v1::OUTCOME_FOUND);
    answer_.set_reason(v1::REASON_GOAL_REACHED);
    answer_.set_cost(5.656854249);
    answer_.mutable_version()->set_revision(3);
    *answer_.mutable_end() = At(4, 0);
    for (const v1::Cell& cell : {At(0, 0), At(1, 1), At(2, 2), At(3, 1), At(4, 0)}) {
      *answer_.add_points() = cell;
    }
    answer_.mutable_statistics()->set_expanded(9);
    answer_.mutable_statistics()->mutable_search_time()->set_nanos(1500);
    answer_.mutable_statistics()->set_algorithm(v1::ALGORITHM_ASTAR);
  }

  v1::FindPathResponse answer_;
  v1::FindPathRequest request_;
};

TEST_F(FindCommandTest, DrawsThePathAndTellsTheFacts) {
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "  0\n"
            "0 S.#.G\n"
            "  .*#*.\n"
            "  ..*..\n"
            "S start  G goal  * path  # obstacle\n"
            "Path found: 4 steps at cost 5.656854249 (revision 3; 9 cells expanded in 1.5us by A*)\n");
  EXPECT_EQ(err_, "");
}

TEST_F(FindCommandTest, DrawsHexagonsWhereTheBoardHasThem) {
  v1::MapInfo info;
  info.mutable_version()->set_revision(3);
  v1::GridInfo& grid = *info.mutable_grid();
  grid.mutable_hexagons()->set_layout(v1::HEX_LAYOUT_ODD_ROWS);
  server_.ServeMap(info, {"..#",  //
                          ".#.",  //
                          "..."});
  answer_.clear_points();
  for (const v1::Cell& cell : {At(0, 0), At(0, 1), At(0, 2), At(1, 2)}) {
    *answer_.add_points() = cell;
  }
  *answer_.mutable_end() = At(1, 2);
  EXPECT_EQ(Run({"find", "arena", "0,0", "1,2"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_, StartsWith("  0\n"
                               "0 S . #\n"
                               "   * # .\n"
                               "  * G .\n"));
}

TEST_F(FindCommandTest, PositionsProfileAndSnapGoToTheServer) {
  EXPECT_EQ(Run({"find", "arena", "--start-position", "-3.5,2", "--goal-position=4,1e1", "--snap", "1.5",
                 "--profile", "tank", "--summary", "--positions"}),
            ExitCode::kOk);
  EXPECT_EQ(request_.start().position().x(), -3.5);
  EXPECT_EQ(request_.goals(0).position().y(), 10);
  EXPECT_EQ(request_.goals_size(), 1);
  EXPECT_EQ(request_.snap().radius(), 1.5);
  EXPECT_EQ(request_.agent().profile_name(), "tank");
  EXPECT_TRUE(request_.with_summary() && request_.with_positions());
}

TEST_F(FindCommandTest, CellBesideAStartPositionIsTheGoal) {
  EXPECT_EQ(Run({"find", "arena", "4,0", "--start-position", "0.5,0.5"}), ExitCode::kOk);
  EXPECT_EQ(request_.start().position().x(), 0.5);
  ASSERT_EQ(request_.goals_size(), 1);
  EXPECT_EQ(request_.goals(0).cell().x(), 4);
  EXPECT_EQ(Run({"find", "arena", "0,0", "--goal-position", "4.5,0.5"}), ExitCode::kOk);
  EXPECT_TRUE(request_.start().has_cell());
  EXPECT_TRUE(request_.goals(0).has_position());
}

TEST_F(FindCommandTest, GoalsMayBeCellsAndPositions) {
  EXPECT_EQ(Run({"find", "arena", "4,0", "3,2", "--start-position", "0.5,0.5", "--goal-position", "1.5,2"}),
            ExitCode::kOk);
  ASSERT_EQ(request_.goals_size(), 3);
  EXPECT_EQ(request_.goals(0).cell().x(), 4);
  EXPECT_EQ(request_.goals(1).cell().y(), 2);
  EXPECT_EQ(request_.goals(2).position().x(), 1.5);
}

TEST_F(FindCommandTest, OneStartAlone) {
  EXPECT_EQ(Run({"find", "islands", "--start-position", "1,2", "--start-position", "3,4", "b"}),
            ExitCode::kUsage);
}

TEST_F(FindCommandTest, TakesSeveralGoalPositions) {
  EXPECT_EQ(Run({"find", "--goal-position", "4.5,0.5", "arena", "--goal-position=-1,2", "0,0",
                 "--goal-position", "3,3"}),
            ExitCode::kOk);
  ASSERT_EQ(request_.goals_size(), 3);
  EXPECT_EQ(request_.goals(0).position().x(), 4.5);
  EXPECT_EQ(request_.goals(1).position().x(), -1);
  EXPECT_EQ(request_.goals(2).position().y(), 3);
  // Traces have one goal.
  EXPECT_EQ(Run({"trace", "arena", "0,0", "--goal-position", "4,0", "--goal-position", "3,3"}),
            ExitCode::kUsage);
}

TEST_F(FindCommandTest, NodesAndTagsGoToTheServer) {
  answer_.Clear();
  answer_.set_outcome(v1::OUTCOME_FOUND);
  answer_.set_cost(5);
  for (const char* node : {"harbour", "lighthouse"}) {
    answer_.add_nodes(node);
    answer_.add_positions();
  }
  EXPECT_EQ(
      Run({"find", "islands", "harbour", "lighthouse", "--require-tag", "dry", "--require-tag", "wide"}),
      ExitCode::kOk);
  EXPECT_EQ(request_.start().node(), "harbour");
  EXPECT_EQ(request_.goals(0).node(), "lighthouse");
  EXPECT_EQ(request_.agent().profile().required_tags(1), "wide");
  EXPECT_THAT(out_, HasSubstr("Path found: 2 nodes at cost 5"));
  EXPECT_THAT(out_, HasSubstr("\nharbour lighthouse\n"));
  EXPECT_EQ(Run({"find", "islands", "--start-position", "1,2,3", "lighthouse"}), ExitCode::kOk);
  EXPECT_EQ(request_.start().position().z(), 3);
}

TEST_F(FindCommandTest, SummaryOfAPathOverAGraphHasNoLegs) {
  answer_.Clear();
  answer_.set_outcome(v1::OUTCOME_FOUND);
  answer_.set_cost(20);
  answer_.set_goal_index(1);
  for (const char* node : {"harbour", "bridge", "lighthouse"}) {
    answer_.add_nodes(node);
    answer_.add_positions();
  }
  answer_.mutable_summary()->set_length(20);
  answer_.mutable_summary()->set_turns(1);
  EXPECT_EQ(Run({"find", "islands", "harbour", "mine", "lighthouse", "--summary"}), ExitCode::kOk);
  ASSERT_EQ(request_.goals_size(), 2);
  EXPECT_EQ(request_.goals(1).node(), "lighthouse");
  EXPECT_TRUE(request_.with_summary());
  EXPECT_THAT(out_, HasSubstr("\nharbour bridge lighthouse\nLength 20, 1 turn\n"));
}

TEST_F(FindCommandTest, WaitsForARevisionOfTheMapThatIsThere) {
  server_.get_map = [](auto&, const v1::GetMapRequest& /*request*/, v1::GetMapResponse& response) {
    response.mutable_info()->mutable_version()->set_epoch(7);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--no-picture", "--least-revision", "3"}), ExitCode::kOk);
  EXPECT_EQ(request_.view().least_version().epoch(), 7U);
  EXPECT_EQ(request_.view().least_version().revision(), 3U);
}

TEST_F(FindCommandTest, TellsOfPathsOverMeshes) {
  answer_.Clear();
  answer_.set_outcome(v1::OUTCOME_FOUND);
  answer_.set_cost(7.5);
  answer_.mutable_version()->set_revision(2);
  answer_.mutable_statistics()->set_algorithm(v1::ALGORITHM_POLYANYA);
  answer_.mutable_statistics()->set_expanded(3);
  for (const double x : {1.0, 4.5, 8.5}) {
    v1::Position& corner = *answer_.add_positions();
    corner.set_x(x);
    corner.set_z(2);
  }
  answer_.add_corridor(4);
  answer_.add_corridor(9);
  EXPECT_EQ(Run({"find", "temple", "1,0,2", "8.5,0", "--snap", "1", "--snap-height", "2", "--corridor"}),
            ExitCode::kOk)
      << err_;
  EXPECT_EQ(request_.start().position().z(), 2);
  EXPECT_EQ(request_.goals(0).position().x(), 8.5);
  EXPECT_EQ(request_.snap().height(), 2);
  EXPECT_TRUE(request_.with_corridor());
  EXPECT_THAT(out_,
              StartsWith("Path found: 2 straight lines of length 7.5 (revision 2; 3 intervals expanded"));
  EXPECT_THAT(out_, HasSubstr("by Polyanya)\n1,0,2 4.5,0,2 8.5,0,2\nPolygons 4 9\n"));

  answer_.clear_positions();
  answer_.clear_corridor();
  answer_.set_outcome(v1::OUTCOME_UNREACHABLE);
  answer_.set_reason(v1::REASON_NO_ROUTE);
  EXPECT_EQ(Run({"find", "temple", "1,0,2", "8,0,2"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, StartsWith("No path to the goal: no polygons lead there from the start"));
}

TEST_F(FindCommandTest, GraphsHaveNoWalls) {
  answer_.Clear();
  answer_.set_outcome(v1::OUTCOME_UNREACHABLE);
  answer_.set_reason(v1::REASON_NO_ROUTE);
  EXPECT_EQ(Run({"find", "islands", "lighthouse", "harbour"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr("no edges lead there from the start"));
}

TEST_F(FindCommandTest, TagsAreOfOneProfile) {
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--require-tag", "dry", "--profile", "tank"}),
            ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("--profile"));
}

TEST_F(FindCommandTest, MissingEndsAreUsageErrors) {
  EXPECT_EQ(Run({"find", "arena"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("START is required"));
  EXPECT_EQ(Run({"find", "arena", "1,1"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("GOAL is required"));
  EXPECT_EQ(Run({"find", "arena", "1,1", "--goal-position", "1"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("'1' is not a position"));
}

TEST_F(FindCommandTest, TellsPositionsAndSummary) {
  *answer_.mutable_start() = At(0, 0);
  for (const double x : {0.25, 1.0, 1.75, 2.5, 3.25}) {
    v1::Position& position = *answer_.add_positions();
    position.set_x(x);
    position.set_y(-2);
  }
  v1::PathSummary& summary = *answer_.mutable_summary();
  summary.set_length(2.5);
  summary.set_turns(1);
  for (const char* terrain : {".", "~"}) {
    v1::PathSummary::Leg& leg = *summary.add_legs();
    leg.set_terrain(terrain);
    leg.set_cells(2);
    leg.set_length(1.25);
    leg.set_cost(3);
  }
  EXPECT_EQ(Run({"find", "arena", "--start-position", "0.5,0.5", "--goal-position", "4.5,0.5"}),
            ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("0 S.#.G\n"));
  EXPECT_THAT(out_, HasSubstr("4 steps"));
  EXPECT_THAT(out_, HasSubstr("\n0.25,-2 1,-2 1.75,-2 2.5,-2 3.25,-2\n"));
  EXPECT_THAT(out_, HasSubstr("Length 2.5, 1 turn\n"
                              "  .  2 cells  length 1.25  cost 3\n"
                              "  ~  2 cells  length 1.25  cost 3\n"));
}

TEST_F(FindCommandTest, SendsWhatTheUserAsked) {
  Run({"find", "arena", "-1,3", "4,-2", "--corner-rule", "one-free", "--algorithm", "dijkstra", "--nearest",
       "--max-expansions", "500", "--form", "corners"});
  EXPECT_EQ(request_.map(), "arena");
  EXPECT_EQ(request_.start().cell().x(), -1);
  EXPECT_EQ(request_.start().cell().y(), 3);
  EXPECT_EQ(request_.goals(0).cell().x(), 4);
  EXPECT_EQ(request_.goals(0).cell().y(), -2);
  EXPECT_EQ(request_.agent().corner_rule(), v1::CORNER_RULE_ONE_SIDE_FREE);
  EXPECT_EQ(request_.algorithm(), v1::ALGORITHM_DIJKSTRA);
  EXPECT_EQ(request_.unreachable_policy(), v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE);
  EXPECT_EQ(request_.max_expansions(), 500);
  EXPECT_EQ(request_.path_form(), v1::PATH_FORM_CORNERS);
}

TEST_F(FindCommandTest, KnowsEveryAlgorithmAndForm) {
  const std::pair<const char*, v1::Algorithm> algorithms[] = {{"auto", v1::ALGORITHM_AUTO},
                                                              {"astar", v1::ALGORITHM_ASTAR},
                                                              {"jump-point", v1::ALGORITHM_JUMP_POINT_SEARCH},
                                                              {"lazy-theta", v1::ALGORITHM_LAZY_THETA_STAR},
                                                              {"hierarchy", v1::ALGORITHM_SUBGOAL_HIERARCHY}};
  for (const auto& [word, algorithm] : algorithms) {
    EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--algorithm", word}), ExitCode::kOk);
    EXPECT_EQ(request_.algorithm(), algorithm);
  }
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--form", "smoothed", "--footprint", "2"}), ExitCode::kOk);
  EXPECT_EQ(request_.path_form(), v1::PATH_FORM_SMOOTHED);
  EXPECT_EQ(request_.agent().footprint(), 2);
}

TEST_F(FindCommandTest, LeavesDefaultsToTheServer) {
  Run({"find", "arena", "0,0", "4,0"});
  v1::FindPathRequest expected;
  expected.set_map("arena");
  expected.mutable_start()->mutable_cell();
  *expected.add_goals()->mutable_cell() = At(4, 0);
  EXPECT_EQ(request_.DebugString(), expected.DebugString());
}

TEST_F(FindCommandTest, ListsThePathInTheFormThatWasAskedFor) {
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--form", "cells"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("A*)\n0,0 1,1 2,2 3,1 4,0\n"));
  EXPECT_THAT(out_, StartsWith("  0\n0 S.#.G\n"));
}

TEST_F(FindCommandTest, CanDoWithoutAPicture) {
  server_.export_map = nullptr;
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--no-picture"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 4 steps"));
  EXPECT_THAT(out_, HasSubstr("\n0,0 1,1 2,2 3,1 4,0\n"));
  EXPECT_EQ(err_, "");
}

TEST_F(FindCommandTest, SaysWhenThePictureIsOfAnotherRevision) {
  answer_.mutable_version()->set_revision(2);
  Run({"find", "arena", "0,0", "4,0"});
  EXPECT_THAT(out_, HasSubstr("The picture shows revision 3, the path is for revision 2.\n"));
  // Another map may have any revision.
  answer_.mutable_version()->set_epoch(7);
  answer_.mutable_version()->set_revision(3);
  Run({"find", "arena", "0,0", "4,0"});
  EXPECT_THAT(out_, HasSubstr("The picture shows a map that has replaced the one that the path is for.\n"));
}

TEST_F(FindCommandTest, DrawsWhatIsLeftOnAMapThatShrank) {
  server_.ServeMap({}, {".."});
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("  0\n0 S.\n"));
}

TEST_F(FindCommandTest, StillTellsTheFactsIfItCannotDraw) {
  server_.export_map = nullptr;
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("Path found: 4 steps"));
  EXPECT_THAT(err_, HasSubstr("not scripted"));
}

TEST_F(FindCommandTest, AnUnreachableGoalHasAnExitCodeOfItsOwn) {
  answer_.set_outcome(v1::OUTCOME_UNREACHABLE);
  answer_.set_reason(v1::REASON_NO_ROUTE);
  answer_.clear_end();
  answer_.clear_points();
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, StartsWith("  0\n0 S.#.G\n  ..#..\n"));
  EXPECT_THAT(out_, HasSubstr("No path to the goal: walls part it from the start"));
}

TEST_F(FindCommandTest, APartialPathIsNoSuccess) {
  answer_.set_outcome(v1::OUTCOME_PARTIAL);
  answer_.set_reason(v1::REASON_NO_ROUTE);
  answer_.mutable_points()->DeleteSubrange(2, 3);
  *answer_.mutable_end() = At(1, 1);
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--nearest"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, StartsWith("  0\n0 S.#.G\n  .E#..\n"));
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--nearest", "--json"}), ExitCode::kNoPath);
}

TEST_F(FindCommandTest, PrintsTheAnswerAsJson) {
  EXPECT_EQ(Run({"find", "arena", "0,0", "4,0", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_,
              HasSubstr(R"(,"outcome":"OUTCOME_FOUND","reason":"REASON_GOAL_REACHED","cost":5.656854249,)"));
  EXPECT_THAT(out_, HasSubstr(R"("revision":"3")"));
}

TEST_F(FindCommandTest, ColoursOnlyATerminalThatWantsIt) {
  const std::string escape = "\x1b[";
  Run({"find", "arena", "0,0", "4,0"});
  EXPECT_THAT(out_, Not(HasSubstr(escape)));
  Run({"find", "arena", "0,0", "4,0", "--color", "always"});
  EXPECT_THAT(out_, HasSubstr(escape));
  is_terminal_ = true;
  Run({"find", "arena", "0,0", "4,0"});
  EXPECT_THAT(out_, HasSubstr(escape));
  Run({"find", "arena", "0,0", "4,0", "--color", "never"});
  EXPECT_THAT(out_, Not(HasSubstr(escape)));
  no_color_ = true;
  Run({"find", "arena", "0,0", "4,0"});
  EXPECT_THAT(out_, Not(HasSubstr(escape)));
}

TEST_F(FindCommandTest, ARefusalIsExplained) {
  server_.find_path = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::FAILED_PRECONDITION, "2,0 is blocked", "GOAL_BLOCKED", "goals[0]");
  };
  EXPECT_EQ(Run({"find", "arena", "0,0", "2,0"}), ExitCode::kRefused);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_,
            "waystar: 2,0 is blocked (goals[0])\n"
            "--nearest finds a path to the nearest cell that can be reached.\n");
  EXPECT_EQ(Run({"find", "arena", "0,0", "2,0", "--json"}), ExitCode::kRefused);
  EXPECT_THAT(err_, StartsWith(R"({"code":9,"message":"2,0 is blocked","details":[)"));
}

}  // namespace
}  // namespace waystar::cli
