#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/client/cli/cells.h"
#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::waystar::testing::At;
using ::waystar::testing::Refusal;

class PathsCommandTest : public ::waystar::testing::CommandTest {
 protected:
  PathsCommandTest() {
    server_.find_paths = [this](auto&, const v1::FindPathsRequest& request, v1::FindPathsResponse& response) {
      request_ = request;
      response = answers_;
      return grpc::Status::OK;
    };
  }

  v1::FindPathResponse& AddAnswer(v1::Outcome outcome) {
    v1::FindPathResponse& answer = *answers_.add_results()->mutable_answer();
    answer.set_outcome(outcome);
    return answer;
  }

  void AddFound() {
    v1::FindPathResponse& answer = AddAnswer(v1::OUTCOME_FOUND);
    answer.set_cost(5.5);
    *answer.mutable_end() = At(4, 0);
    for (const v1::Cell& cell : {At(0, 0), At(2, 2), At(4, 0)}) {
      *answer.add_points() = cell;
    }
  }

  v1::FindPathsRequest request_;
  v1::FindPathsResponse answers_;
};

TEST_F(PathsCommandTest, IsATable) {
  AddFound();
  AddAnswer(v1::OUTCOME_UNREACHABLE);
  answers_.add_results()->mutable_problem()->set_message("the start (9, 9) is blocked");
  v1::FindPathResponse& partial = AddAnswer(v1::OUTCOME_PARTIAL);
  *partial.mutable_end() = At(1, 1);
  *partial.add_points() = At(1, 1);
  in_ = "0,0 4,0\n\n# Parted by a wall.\n 10,10\t-1,2  # so far\r\n9,9 1,1\n1,1 2,2";
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kRefused);
  EXPECT_EQ(out_,
            "START  GOAL  OUTCOME      COST  POINTS\n"
            "0,0    4,0   found        5.5   0,0 2,2 4,0\n"
            "10,10  -1,2  unreachable  -     -\n"
            "9,9    1,1   refused      -     the start (9, 9) is blocked\n"
            "1,1    2,2   partial      0     1,1\n");
  EXPECT_EQ(request_.map(), "arena");
  ASSERT_EQ(request_.queries_size(), 4);
  EXPECT_EQ(request_.queries(1).start().cell().x(), 10);
  EXPECT_EQ(request_.queries(1).goals(0).cell().x(), -1);
  EXPECT_EQ(request_.queries(3).path_form(), v1::PATH_FORM_CORNERS);
}

TEST_F(PathsCommandTest, ExitCodeIsThatOfTheWorstAnswer) {
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kOk);
  AddFound();
  in_ = "0,0 4,0\n";
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kOk);
  AddAnswer(v1::OUTCOME_BUDGET_EXHAUSTED);
  in_ += in_;
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kNoPath);
  EXPECT_EQ(Run({"paths", "arena", "--json"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, StartsWith(R"({"results":[{"answer":{"outcome":"OUTCOME_FOUND")"));
  answers_.add_results()->mutable_problem();
  EXPECT_EQ(Run({"paths", "arena", "--json"}), ExitCode::kRefused);
}

TEST_F(PathsCommandTest, OptionsGoForAllQueries) {
  in_ = "0,0 4,0\n1,1 2,2\n";
  Run({"paths", "arena", "-", "--form", "directions", "--nearest", "--footprint", "2", "--block", "3,3"});
  EXPECT_EQ(request_.agent().footprint(), 2);
  EXPECT_EQ(request_.view().overlay().blocked().cells_size(), 1);
  ASSERT_EQ(request_.queries_size(), 2);
  for (const v1::FindPathRequest& query : request_.queries()) {
    EXPECT_EQ(query.path_form(), v1::PATH_FORM_DIRECTIONS);
    EXPECT_EQ(query.unreachable_policy(), v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE);
  }
  Run({"paths", "arena", "--profile", "tank", "--footprint", "3", "--snap", "1.5"});
  EXPECT_EQ(request_.agent().profile_name(), "tank");
  EXPECT_EQ(request_.agent().footprint(), 3);
  EXPECT_EQ(request_.queries(0).snap().radius(), 1.5);
}

TEST_F(PathsCommandTest, QueriesMayBeOfNodes) {
  v1::FindPathResponse& found = AddAnswer(v1::OUTCOME_FOUND);
  found.set_cost(12);
  for (const char* node : {"harbour", "ford", "lighthouse"}) {
    found.add_nodes(node);
    found.add_positions();
  }
  AddAnswer(v1::OUTCOME_UNREACHABLE);
  in_ = "harbour lighthouse\nharbour mine\n";
  EXPECT_EQ(Run({"paths", "islands"}), ExitCode::kNoPath) << err_;
  EXPECT_EQ(out_,
            "START    GOAL        OUTCOME      COST  POINTS\n"
            "harbour  lighthouse  found        12    harbour ford lighthouse\n"
            "harbour  mine        unreachable  -     -\n");
  ASSERT_EQ(request_.queries_size(), 2);
  EXPECT_EQ(request_.queries(1).goals(0).node(), "mine");
  EXPECT_EQ(request_.queries(0).path_form(), v1::PATH_FORM_UNSPECIFIED);
}

TEST_F(PathsCommandTest, ReadsAFile) {
  const ::waystar::testing::OwnFolder folder;
  const std::string file = folder.PathOf("queries.txt");
  std::ofstream(file) << "0,0 4,0\n3,3 4,0\n";
  EXPECT_EQ(Run({"paths", "arena", file}), ExitCode::kOk);
  EXPECT_EQ(request_.queries_size(), 2);
  std::filesystem::remove(file);
  EXPECT_EQ(Run({"paths", "arena", file}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("cannot read " + file + ": No such file"));
  EXPECT_EQ(Run({"paths", "arena", folder.path().string()}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("it is a folder"));
}

TEST_F(PathsCommandTest, BadLinesAreNamed) {
  server_.find_paths = nullptr;
  in_ = "0,0 4,0\n\n0,0\n";
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("line 3: a query is two cells"));
  in_ = "0,0 4,0 5,5\n";
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("line 1: a query is two cells"));
  in_ = "0,0 4;0\n";
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("line 1: '4;0' is not a cell"));
  EXPECT_THAT(out_, IsEmpty());
}

TEST_F(PathsCommandTest, ARefusalIsExplained) {
  server_.find_paths = [](auto&, const auto&, auto&) {
    return Refusal(grpc::StatusCode::NOT_FOUND, "there is no map \"arena\"", "MAP_NOT_FOUND", "map");
  };
  EXPECT_EQ(Run({"paths", "arena"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("waystar map list"));
}

class ReachableCommandTest : public ::waystar::testing::CommandTest {
 protected:
  ReachableCommandTest() {
    server_.check_reachability = [this](auto&, const v1::CheckReachabilityRequest& request,
                                        v1::CheckReachabilityResponse& response) {
      request_ = request;
      for (const v1::LocationPair& pair : request.pairs()) {
        response.add_reachable(pair.goal().cell().x() < 10);
      }
      return grpc::Status::OK;
    };
  }

  v1::CheckReachabilityRequest request_;
};

TEST_F(ReachableCommandTest, IsATable) {
  EXPECT_EQ(Run({"reachable", "arena", "0,0", "-4,0", "1,1", "60,40", "--footprint", "2"}),
            ExitCode::kNoPath);
  EXPECT_EQ(out_,
            "START  GOAL   REACHABLE\n"
            "0,0    -4,0   yes\n"
            "1,1    60,40  no\n");
  EXPECT_EQ(request_.map(), "arena");
  EXPECT_EQ(request_.agent().footprint(), 2);
  EXPECT_EQ(Run({"reachable", "arena", "0,0", "4,0"}), ExitCode::kOk);
  EXPECT_EQ(Run({"reachable", "arena", "0,0", "40,0", "--json"}), ExitCode::kNoPath);
  EXPECT_THAT(out_, HasSubstr(R"("reachable":[false])"));
}

TEST_F(ReachableCommandTest, CellsComeInPairs) {
  server_.check_reachability = nullptr;
  EXPECT_EQ(Run({"reachable", "arena", "0,0", "4,0", "1,1"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("the last one has no GOAL"));
  EXPECT_EQ(Run({"reachable", "arena"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"reachable", "arena", "0,0", "4;0"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("'4;0' is not a cell"));
}

TEST_F(ReachableCommandTest, PairsMayBeOfNodes) {
  EXPECT_EQ(Run({"reachable", "islands", "harbour", "lighthouse"}), ExitCode::kOk);
  EXPECT_EQ(out_,
            "START    GOAL        REACHABLE\n"
            "harbour  lighthouse  yes\n");
  ASSERT_EQ(request_.pairs_size(), 1);
  EXPECT_EQ(request_.pairs(0).start().node(), "harbour");
  EXPECT_EQ(request_.pairs(0).goal().node(), "lighthouse");
}

TEST_F(PathsCommandTest, ComparesWithTheLengthsOfAScenario) {
  AddFound();
  AddFound();
  AddAnswer(v1::OUTCOME_UNREACHABLE);
  in_ =
      "version 1\n"
      "0\tarena.map\t8\t8\t0\t0\t4\t0\t5.50000100\n"
      "1\tarena.map\t8\t8\t0\t0\t4\t0\t5.40000000\n\n"
      "1\tarena.map\t8\t8\t0\t0\t7\t7\t9.9\n";
  EXPECT_EQ(Run({"paths", "arena", "--scenario", "-"}), ExitCode::kFailure);
  EXPECT_EQ(out_,
            "3 queries, 1 paths as long as the file says.\n"
            "LINE  START  GOAL  FILE  COST\n"
            "3     0,0    4,0   5.4   5.5\n"
            "5     0,0    7,7   9.9   no path\n");
  ASSERT_EQ(request_.queries_size(), 3);
  EXPECT_EQ(request_.queries(2).goals(0).cell().x(), 7);
  in_ = "version 1\n0 arena.map 8 8 0 0 4 0 5.5\n";
  EXPECT_EQ(Run({"paths", "arena", "--scenario", "-"}), ExitCode::kOk);
  EXPECT_EQ(out_, "1 queries, 1 paths as long as the file says.\n");
}

// A number with a fraction anywhere in the file makes all of its places positions.
TEST_F(PathsCommandTest, ScenariosOfMeshesHavePositions) {
  AddFound();
  AddFound();
  in_ = "version 1\n0 x.mesh 9 9 0 0 4 0 5.5\n0 x.mesh 9 9 -73.0625 -4.5 4 0 5.5\n";
  EXPECT_EQ(Run({"paths", "arena", "--scenario", "-"}), ExitCode::kOk) << err_;
  ASSERT_EQ(request_.queries_size(), 2);
  EXPECT_EQ(request_.queries(0).goals(0).position().x(), 4.0);
  EXPECT_EQ(request_.queries(1).start().position().x(), -73.0625);
  EXPECT_EQ(request_.queries(1).start().position().y(), -4.5);
  in_ = "version 1\n0 x.mesh 9 9 0.5 0 inf 0 5.5\n";
  EXPECT_EQ(Run({"paths", "arena", "--scenario", "-"}), ExitCode::kUsage);
}

TEST_F(PathsCommandTest, ExplainsWhatIsNoScenario) {
  for (const std::string text :
       {"", "0 arena.map 8 8 0 0 4 0 5.5\n", "version 2\n", "version 1\n0 arena.map 8 8\n",
        "version 1\n0 arena.map 8 8 0 0 4 0 nan\n"}) {
    in_ = text;
    EXPECT_EQ(Run({"paths", "arena", "--scenario", "-"}), ExitCode::kUsage) << text;
    EXPECT_THAT(err_, HasSubstr("line ")) << text;
  }
}

}  // namespace
}  // namespace waystar::cli
