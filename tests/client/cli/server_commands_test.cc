// `waystar info`, `waystar log-level` and `waystar cluster`.

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

class ClusterCommandTest : public ::waystar::testing::CommandTest {
 protected:
  ClusterCommandTest() {
    server_.list_servers = [this](auto&, const auto&, v1::ListServersResponse& response) {
      response.set_is_fleet(true);
      for (const std::string& address : {other_.target(), server_.target(), std::string("127.0.0.1:1")}) {
        v1::ServerPresence& server = *response.add_servers();
        server.set_address(address);
        server.set_version("1.2.3");
        server.set_maps(7);
        server.set_etcd_revision(900);
        server.set_lag(2);
        server.mutable_staleness()->set_nanos(400'000'000);
        server.set_is_this(address == server_.target());
      }
      return grpc::Status::OK;
    };
    server_.get_map = [this](auto&, const v1::GetMapRequest& request, v1::GetMapResponse& response) {
      asks_for_latest_ |= request.latest_of_cluster();
      return Answer(request.latest_of_cluster() ? 12 : 10, response);
    };
    other_.get_map = [](auto&, const auto&, v1::GetMapResponse& response) { return Answer(13, response); };
  }

  static grpc::Status Answer(std::uint64_t revision, v1::GetMapResponse& response) {
    response.mutable_info()->mutable_version()->set_epoch(5);
    response.mutable_info()->mutable_version()->set_revision(revision);
    return grpc::Status::OK;
  }

  testing::FakeServer other_;
  bool asks_for_latest_ = false;
};

TEST_F(ClusterCommandTest, ListsTheServers) {
  EXPECT_EQ(Run({"cluster"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("ADDRESS"));
  EXPECT_THAT(out_, HasSubstr(other_.target() + "  1.2.3 "));
  EXPECT_THAT(out_, HasSubstr(" 7     900            2    0.4 s          this server\n"));
  EXPECT_FALSE(asks_for_latest_);
  EXPECT_EQ(Run({"cluster", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(R"("isFleet":true)"));
}

TEST_F(ClusterCommandTest, TellsHowFarEachServerIsBehind) {
  EXPECT_EQ(Run({"cluster", "arena"}), ExitCode::kOk);
  EXPECT_TRUE(asks_for_latest_);
  EXPECT_THAT(out_, HasSubstr("arena is at revision 12.\n"));
  EXPECT_THAT(out_, ::testing::ContainsRegex(server_.target() + " +10 +2\n"));
  // It has gone on since.
  EXPECT_THAT(out_, ::testing::ContainsRegex(other_.target() + " +13 +0\n"));
  EXPECT_THAT(out_, ::testing::ContainsRegex("127.0.0.1:1 +- +- +not reached\n"));
  EXPECT_EQ(Run({"cluster", "arena", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(R"("revision":10,"behind_by":2,"problem":null)"));
  EXPECT_THAT(out_, HasSubstr(R"("revision":null,"behind_by":null,"problem":"not reached")"));
}

TEST_F(ClusterCommandTest, TellsOfAnotherMapOfThatName) {
  other_.get_map = [](auto&, const auto&, v1::GetMapResponse& response) {
    response.mutable_info()->mutable_version()->set_epoch(6);
    response.mutable_info()->mutable_version()->set_revision(3);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"cluster", "arena"}), ExitCode::kOk);
  EXPECT_THAT(out_, ::testing::ContainsRegex(other_.target() + " +3 +- +has another map of that name\n"));
}

TEST_F(ClusterCommandTest, TellsThatThereIsNoFleet) {
  server_.list_servers = [](auto&, const auto&, v1::ListServersResponse& response) {
    response.add_servers()->set_address("here:7450");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"cluster"}), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("It is in no fleet.\n"));
}

}  // namespace
}  // namespace waystar::cli
