#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "tests/client/cli/command_test.h"
#include "tests/testing/own_folder.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class BenchCommandTest : public waystar::CommandTest {
 protected:
  BenchCommandTest() {
    server_.sample_places = [](auto&, const v1::SamplePlacesRequest& request,
                               v1::SamplePlacesResponse& response) {
      for (int i = 0; i < request.count(); ++i) {
        response.add_cells()->set_x(i);
      }
      return grpc::Status::OK;
    };
    server_.find_path = [](auto&, const v1::FindPathRequest& request, v1::FindPathResponse& response) {
      response.set_outcome(v1::OUTCOME_FOUND);
      return request.map() == "arena" ? grpc::Status::OK
                                      : grpc::Status(grpc::StatusCode::NOT_FOUND, "no such map");
    };
  }

  ExitCode Bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), {"--duration", "50ms", "--warm-up", "0", "--deadline", "1m"});
    return Run(arguments);
  }

  const waystar::OwnFolder folder_;
};

TEST_F(BenchCommandTest, DrawsPointsOfMeshesAndNodesOfGraphs) {
  for (const bool is_mesh : {true, false}) {
    server_.sample_places = [is_mesh](auto&, const v1::SamplePlacesRequest& request,
                                      v1::SamplePlacesResponse& response) {
      for (int i = 0; i < request.count(); ++i) {
        if (is_mesh) {
          response.add_positions()->set_x(0.5);
        } else {
          response.add_nodes("harbour");
        }
      }
      return grpc::Status::OK;
    };
    std::atomic<int> wrong = 0;
    server_.find_path = [&wrong, is_mesh](auto&, const v1::FindPathRequest& request,
                                          v1::FindPathResponse& response) {
      const v1::Location& goal = request.goals(0);
      wrong += (is_mesh ? goal.position().x() == 0.5 : goal.node() == "harbour") ? 0 : 1;
      response.set_outcome(v1::OUTCOME_FOUND);
      return grpc::Status::OK;
    };
    EXPECT_EQ(Bench({"arena", "--pairs", "3"}), ExitCode::kOk) << err_;
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(BenchCommandTest, PrintsAReport) {
  EXPECT_EQ(Bench({"arena", "--pairs", "3"}), ExitCode::kOk) << err_;
  EXPECT_THAT(out_,
              StartsWith(server_.target() +
                         ": closed loop, 1 FindPath call in flight, 1 connection, for 0.05 s after 0 s\n"));
  EXPECT_THAT(out_, HasSubstr(" 0 failed\n"));
  EXPECT_THAT(out_, HasSubstr("  99.99%"));
  EXPECT_EQ(err_, "");
}

TEST_F(BenchCommandTest, TellsATerminalHowFarItIs) {
  shows_progress_ = true;
  EXPECT_EQ(Bench({"arena"}), ExitCode::kOk);
  EXPECT_THAT(err_, ::testing::ContainsRegex("\r.*0 of 0 s: [0-9]+ answered, 0 failed"));
  EXPECT_EQ(Bench({"arena", "--json"}), ExitCode::kOk);
  EXPECT_EQ(err_, "");
}

TEST_F(BenchCommandTest, PrintsJson) {
  EXPECT_EQ(Bench({"arena", "--in-flight", "2", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_,
              HasSubstr(R"("loop":"closed","messages_per_second":null,"arrivals":null,"in_flight":2,)"));
  EXPECT_THAT(out_, HasSubstr(R"("failed":0,"failures":[],)"));
}

TEST_F(BenchCommandTest, PrintsWhatItHasWhenItIsInterrupted) {
  // To this thread alone: those of the server would not hold the signal.
  server_.find_path = [bench = pthread_self(), calls = std::make_shared<std::atomic<int>>(0)](
                          auto&, const auto&, v1::FindPathResponse& response) {
    if (calls->fetch_add(1) == 3) {
      pthread_kill(bench, SIGINT);
    }
    response.set_outcome(v1::OUTCOME_FOUND);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"bench", "arena", "--duration", "1h", "--warm-up", "0", "--deadline", "1m"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(" 0 failed\n"));
  EXPECT_THAT(out_, HasSubstr("  99.99%"));
  EXPECT_EQ(err_, "waystar: ended early; this is what was measured until then\n");
}

TEST_F(BenchCommandTest, ReadsAMix) {
  EXPECT_EQ(Bench({"--scenario", folder_.Write("mix", "1 arena pair 0,0 1,1\n")}), ExitCode::kOk) << err_;
  const std::string path = folder_.Write("mix", "1 arena pair 0,0 1,1\n1 arena pair 0,0\n");
  EXPECT_EQ(Bench({"--scenario", path}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: " + path + " line 2: a pair is two cells"));
  EXPECT_EQ(Bench({"--scenario", "/nowhere/mix"}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: cannot read /nowhere/mix"));
}

TEST_F(BenchCommandTest, FailsIfNothingIsAnswered) {
  EXPECT_EQ(Bench({"--scenario", folder_.Write("mix", "1 other pair 0,0 1,1\n")}), ExitCode::kUnavailable);
  EXPECT_THAT(out_, HasSubstr("NOT_FOUND: no such map"));
  server_.sample_places = [](auto&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such map");
  };
  EXPECT_EQ(Bench({"other"}), ExitCode::kRefused);
  EXPECT_THAT(err_, HasSubstr("no such map"));
}

TEST_F(BenchCommandTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Bench({}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("name a map, or a file of queries"));
  EXPECT_EQ(Bench({"arena", "--scenario", "mix"}), ExitCode::kUsage);
  EXPECT_EQ(Bench({"arena", "--per-message", "2"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("--per-message is for"));
  EXPECT_EQ(Bench({"arena", "--threads", "2"}), ExitCode::kUsage);
  EXPECT_EQ(Bench({"arena", "--rate", "0"}), ExitCode::kUsage);
  EXPECT_EQ(Bench({"arena", "--arrivals", "random"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("give --rate as well"));
  EXPECT_EQ(Bench({"arena", "--mode", "fast"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"bench", "arena", "--warm-up", "-1s"}), ExitCode::kUsage);
}

}  // namespace
}  // namespace waystar::cli
