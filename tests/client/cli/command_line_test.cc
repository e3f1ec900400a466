#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CommandLineTest : public ::waystar::testing::CommandTest {
 protected:
  void ServeOneMap() {
    server_.list_maps = [](auto&, const auto&, v1::ListMapsResponse& response) {
      response.add_maps()->set_map("arena");
      return grpc::Status::OK;
    };
  }
};

TEST_F(CommandLineTest, HelpExplainsExitCodes) {
  EXPECT_EQ(RunBare({"--help"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("Exit codes:"));
  EXPECT_THAT(out_, HasSubstr("WAYSTAR_SERVER"));
  EXPECT_EQ(err_, "");
}

TEST_F(CommandLineTest, EveryCommandHasExamples) {
  const std::vector<std::vector<std::string>> commands = {
      {"map"},           {"map", "import"}, {"map", "create"}, {"map", "list"}, {"map", "show"},
      {"map", "export"}, {"map", "delete"}, {"find"},          {"block"},       {"unblock"},
      {"health"},        {"info"},          {"log-level"},     {"token"},       {"bench"},
      {"completion"},    {"cluster"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--help");
    EXPECT_EQ(RunBare(command), ExitCode::kOk);
    EXPECT_THAT(out_, HasSubstr("Examples:\n")) << command[0] << " " << command[1];
  }
}

TEST_F(CommandLineTest, HelpIsACommandToo) {
  EXPECT_EQ(RunBare({"--help"}), ExitCode::kOk);
  const std::string help = out_;
  EXPECT_EQ(RunBare({"help"}), ExitCode::kOk);
  EXPECT_EQ(out_, help);
  EXPECT_EQ(RunBare({"map", "import", "--help"}), ExitCode::kOk);
  const std::string import_help = out_;
  EXPECT_EQ(RunBare({"help", "map", "import"}), ExitCode::kOk);
  EXPECT_EQ(out_, import_help);
  EXPECT_EQ(RunBare({"help", "map", "imprt"}), ExitCode::kUsage);
  EXPECT_EQ(err_, "waystar: there is no command 'imprt'; did you mean 'import'?\n");
}

TEST_F(CommandLineTest, TellsItsVersion) {
  EXPECT_EQ(RunBare({"--version"}), ExitCode::kOk);
  EXPECT_THAT(out_, ::testing::MatchesRegex("waystar [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(CommandLineTest, SuggestsCommands) {
  EXPECT_EQ(RunBare({"mpa", "list"}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: there is no command 'mpa'; did you mean 'map'?\n"));
  EXPECT_EQ(RunBare({"map", "lst"}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: there is no command 'lst'; did you mean 'list'?\n"));
}

TEST_F(CommandLineTest, SuggestsOptions) {
  EXPECT_EQ(RunBare({"find", "arena", "1,1", "2,2", "--nerest"}), ExitCode::kUsage);
  EXPECT_EQ(err_,
            "waystar: there is no option '--nerest'; did you mean '--nearest'?\n"
            "`waystar find --help` tells how to use it.\n");
  EXPECT_EQ(RunBare({"map", "list", "--sever=x"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("did you mean '--server'?"));
}

TEST_F(CommandLineTest, AsksForAMissingCommand) {
  EXPECT_EQ(RunBare({}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("which command? One of map, find, paths, watch-path, validate, trace, render, "
                              "animate, reach, reachable"));
  EXPECT_EQ(RunBare({"map"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("which command? One of import, create, list"));
}

TEST_F(CommandLineTest, AsksForMissingArguments) {
  EXPECT_EQ(RunBare({"find", "arena", "1,1"}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: GOAL is required\n"));
}

TEST_F(CommandLineTest, RefusesTooManyArguments) {
  EXPECT_EQ(RunBare({"trace", "arena", "1,1", "2,2", "3,3"}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: '3,3' is one argument too many\n"));
}

TEST_F(CommandLineTest, ExplainsMalformedValues) {
  EXPECT_EQ(RunBare({"find", "arena", "1;1", "2,2"}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: START: '1;1' is not a cell"));
  EXPECT_EQ(RunBare({"map", "list", "--timeout", "0s"}), ExitCode::kUsage);
  EXPECT_THAT(err_, StartsWith("waystar: --timeout: '0s' is not a length of time"));
  EXPECT_EQ(RunBare({"find", "arena", "1,1", "2,2", "--form", "curves"}), ExitCode::kUsage);
  EXPECT_THAT(err_, HasSubstr("--form: curves not in {cells,corners,directions,smoothed}"));
}

TEST_F(CommandLineTest, GlobalOptionsMayStandAnywhere) {
  ServeOneMap();
  const std::string server = server_.target();
  EXPECT_EQ(RunBare({"--server", server, "map", "list", "--names"}), ExitCode::kOk);
  EXPECT_EQ(out_, "arena\n");
  EXPECT_EQ(RunBare({"map", "--server", server, "list", "--names"}), ExitCode::kOk);
  EXPECT_EQ(out_, "arena\n");
  EXPECT_EQ(RunBare({"map", "list", "--names", "--server=" + server}), ExitCode::kOk);
  EXPECT_EQ(out_, "arena\n");
}

TEST_F(CommandLineTest, TheEnvironmentNamesTheServer) {
  ServeOneMap();
  setenv("WAYSTAR_SERVER", server_.target().c_str(), /*overwrite=*/1);
  EXPECT_EQ(RunBare({"map", "list", "--names"}), ExitCode::kOk);
  setenv("WAYSTAR_SERVER", "127.0.0.1:1", /*overwrite=*/1);
  EXPECT_EQ(Run({"map", "list", "--names"}), ExitCode::kOk);
  unsetenv("WAYSTAR_SERVER");
}

TEST_F(CommandLineTest, AMapMayHaveTheNameOfACommand) {
  server_.get_map = [](auto&, const v1::GetMapRequest& request, v1::GetMapResponse& response) {
    response.mutable_info()->set_map(request.map());
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"map", "show", "find", "--no-picture"}), ExitCode::kOk);
  EXPECT_THAT(out_, StartsWith("map            find\n"));
}

TEST_F(CommandLineTest, ATimeoutIsKept) {
  auto remaining = std::chrono::system_clock::duration::max();
  server_.list_maps = [&](grpc::ServerContext& context, const auto&, auto&) {
    remaining = context.deadline() - std::chrono::system_clock::now();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"map", "list", "--timeout", "1h"}), ExitCode::kOk);
  EXPECT_GT(remaining, std::chrono::minutes(59));
  EXPECT_LE(remaining, std::chrono::minutes(61));
}

}  // namespace
}  // namespace waystar::cli
