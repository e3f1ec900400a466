// `waystar info` and `waystar log-level`.

#include <gmock/gmock.h>

#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;

class ServerCommandsTest : public ::waystar::testing::CommandTest {
 protected:
  ServerCommandsTest() {
    server_.get_server_info = [](auto&, const v1::GetServerInfoRequest&,
                                 v1::GetServerInfoResponse& response) {
      response.set_version("1.2.3");
      response.set_workers(4);
      response.set_maps(7);
      response.mutable_uptime()->set_seconds(90);
      response.add_algorithms(v1::ALGORITHM_ASTAR);
      response.add_algorithms(v1::ALGORITHM_JUMP_POINT_SEARCH);
      response.set_log_level(v1::LOG_LEVEL_WARNING);
      response.mutable_limits()->set_max_maps(1000);
      response.mutable_limits()->set_max_queued(256);
      response.mutable_limits()->mutable_max_queue_time()->set_nanos(500'000'000);
      return grpc::Status::OK;
    };
    server_.set_log_level = [this](auto&, const v1::SetLogLevelRequest& request,
                                   v1::SetLogLevelResponse& response) {
      level_ = request.level();
      response.set_previous(v1::LOG_LEVEL_INFO);
      return grpc::Status::OK;
    };
  }

  v1::LogLevel level_ = v1::LOG_LEVEL_UNSPECIFIED;
};

TEST_F(ServerCommandsTest, InfoIsATable) {
  EXPECT_EQ(Run({"info"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("version        1.2.3\n"));
  EXPECT_THAT(out_, HasSubstr(", 1m30s ago\n"));
  EXPECT_THAT(out_, HasSubstr("maps           7 of at most 1000\n"));
  EXPECT_THAT(out_, HasSubstr("algorithms     astar, jump_point_search\n"));
  EXPECT_THAT(out_, HasSubstr("log level      warning\n"));
  EXPECT_THAT(out_, HasSubstr("waiting calls  at most 256, for 500ms\n"));
}

TEST_F(ServerCommandsTest, InfoAsJson) {
  EXPECT_EQ(Run({"info", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(R"("version":"1.2.3")"));
}

TEST_F(ServerCommandsTest, LogLevelIsSetByItsName) {
  EXPECT_EQ(Run({"log-level", "debug"}), ExitCode::kOk);
  EXPECT_EQ(level_, v1::LOG_LEVEL_DEBUG);
  EXPECT_EQ(out_, "The log level is debug now; it was info.\n");
  EXPECT_EQ(Run({"log-level", "loud"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"log-level"}), ExitCode::kUsage);
}

TEST_F(ServerCommandsTest, ServersThatHaveNoneRefuse) {
  server_.get_server_info = nullptr;
  EXPECT_EQ(Run({"info"}), ExitCode::kFailure);
}

}  // namespace
}  // namespace waystar::cli
