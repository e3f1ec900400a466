// `waystar health`, `info`, `log-level`, `cluster`, `token` and `top`.

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/top_rates.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::waystar::testing::Parsed;

class ServerCommandsTest : public ::waystar::testing::CommandTest {};

TEST_F(ServerCommandsTest, HealthSucceedsOnlyIfServing) {
  Serve(server_.check_health, "status: SERVING");
  EXPECT_EQ(Run("health"), ExitCode::kOk);
  EXPECT_EQ(out_, "SERVING\n");
  EXPECT_EQ(Run("health waystar.v1.PathService --json"), ExitCode::kOk);
  EXPECT_THAT(asked_, HasSubstr("waystar.v1.PathService"));
  EXPECT_EQ(out_, "{\"status\":\"SERVING\"}\n");
  Serve(server_.check_health, "status: NOT_SERVING");
  EXPECT_EQ(Run("health"), ExitCode::kUnavailable);
  EXPECT_EQ(out_, "NOT_SERVING\n");
  server_.check_health = [](auto&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "");
  };
  EXPECT_EQ(Run("health other"), ExitCode::kRefused);
  EXPECT_EQ(err_, "waystar: the server has no service 'other'\n");
}

TEST_F(ServerCommandsTest, InfoIsATable) {
  EXPECT_EQ(Run("info"), ExitCode::kFailure) << "of a server that has none";
  Serve(server_.get_server_info,
        "version: '1.2.3' workers: 4 maps: 7 uptime { seconds: 90 } log_level: LOG_LEVEL_WARNING"
        " algorithms: ALGORITHM_ASTAR algorithms: ALGORITHM_JUMP_POINT_SEARCH"
        " limits { max_maps: 1000 max_queued: 256 max_queue_time { nanos: 500000000 } }");
  EXPECT_EQ(Run("info"), ExitCode::kOk);
  for (const char* row : {"version        1.2.3\n", ", 1m30s ago\n", "maps           7 of at most 1000\n",
                          "algorithms     astar, jump_point_search\n", "log level      warning\n",
                          "waiting calls  at most 256, for 500ms\n"}) {
    EXPECT_THAT(out_, HasSubstr(row));
  }
}

TEST_F(ServerCommandsTest, LogLevelIsSetByItsName) {
  Serve(server_.set_log_level, "previous: LOG_LEVEL_INFO");
  EXPECT_EQ(Run("log-level debug"), ExitCode::kOk);
  EXPECT_EQ(Parsed<v1::SetLogLevelRequest>(asked_).level(), v1::LOG_LEVEL_DEBUG);
  EXPECT_EQ(out_, "The log level is debug now; it was info.\n");
}

TEST_F(ServerCommandsTest, TokenPrintsATokenAndItsLine) {
  EXPECT_EQ(RunBare({"token", "arena-1", "update:arena-*", "read:lobby"}), ExitCode::kOk);
  EXPECT_THAT(out_, MatchesRegex("The token, which is kept nowhere else:\n"
                                 "wst_[-_A-Za-z0-9]{43}\n"
                                 "Its line in the server's --tokens_file:\n"
                                 "arena-1 sha256:[0-9a-f]{64} update:arena-\\* read:lobby\n"));
  EXPECT_EQ(RunBare({"token", "a", "read:*", "--json"}), ExitCode::kOk);
  const std::string first = out_;
  EXPECT_THAT(first, HasSubstr("\"token\":\"wst_"));
  EXPECT_THAT(first, HasSubstr("\"line\":\"a sha256:"));
  EXPECT_EQ(RunBare({"token", "a", "read:*", "--json"}), ExitCode::kOk);
  EXPECT_NE(out_, first);
}

TEST_F(ServerCommandsTest, ExplainMistakes) {
  ExpectMistakes({{"log-level loud", "loud"},
                  {"log-level", "LEVEL is required"},
                  {"token a", "PERMISSION is required"},
                  {"token a/b read:*", "NAME: 'a/b' is not 1 to 63"},
                  {"token a write:*", "is not read:MAPS"},
                  {"token a read", "is not read:MAPS"},
                  {"token a read:", "is not read:MAPS"},
                  {"token a read:Arena", "is not read:MAPS"}});
}

class ClusterCommandTest : public ::waystar::testing::CommandTest {
 protected:
  ClusterCommandTest() {
    std::string list = "is_fleet: true";
    for (const std::string& address : {other_.target(), server_.target(), std::string("127.0.0.1:1")}) {
      absl::StrAppend(&list, " servers { address: '", address,
                      "' version: '1.2.3' maps: 7 etcd_revision: 900 lag: 2 staleness { nanos: 400000000 }",
                      address == server_.target() ? " is_this: true }" : " }");
    }
    Serve(server_.list_servers, list);
    server_.get_map = [](auto&, const v1::GetMapRequest& request, v1::GetMapResponse& response) {
      return Answer(5, request.latest_of_cluster() ? 12 : 10, response);
    };
    other_.get_map = [this](auto&, const auto&, v1::GetMapResponse& response) {
      return Answer(other_epoch_, 13, response);
    };
  }

  static grpc::Status Answer(std::uint64_t epoch, std::uint64_t revision, v1::GetMapResponse& response) {
    response.mutable_info()->mutable_version()->set_epoch(epoch);
    response.mutable_info()->mutable_version()->set_revision(revision);
    return grpc::Status::OK;
  }

  testing::FakeServer other_;
  std::uint64_t other_epoch_ = 5;
};

TEST_F(ClusterCommandTest, ListsTheServers) {
  EXPECT_EQ(Run("cluster"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(other_.target() + "  1.2.3 "));
  EXPECT_THAT(out_, HasSubstr(" 7     900            2    0.4 s          this server\n"));
  Serve(server_.list_servers, "servers { address: 'here:7450' }");
  EXPECT_EQ(Run("cluster"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("It is in no fleet.\n"));
}

TEST_F(ClusterCommandTest, TellsHowFarEachServerIsBehind) {
  EXPECT_EQ(Run("cluster arena"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr("arena is at revision 12.\n"));
  EXPECT_THAT(out_, ContainsRegex(server_.target() + " +10 +2\n"));
  // It has gone on since.
  EXPECT_THAT(out_, ContainsRegex(other_.target() + " +13 +0\n"));
  EXPECT_THAT(out_, ContainsRegex("127.0.0.1:1 +- +- +not reached\n"));
  EXPECT_EQ(Run("cluster arena --json"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(R"("revision":10,"behind_by":2,"problem":null)"));
  EXPECT_THAT(out_, HasSubstr(R"("revision":null,"behind_by":null,"problem":"not reached")"));
  other_epoch_ = 6;
  EXPECT_EQ(Run("cluster arena"), ExitCode::kOk);
  EXPECT_THAT(out_, ContainsRegex(other_.target() + " +13 +- +has another map of that name\n"));
}

// After so many seconds with 100 FindPaths a second, of which 10 fail, all within 4 to 5 microseconds.
v1::GetServerStatisticsResponse After(int seconds, const std::string& more = "") {
  const int requests = 100 * seconds;
  return Parsed<v1::GetServerStatisticsResponse>(absl::StrCat(
      "uptime { seconds: ", seconds, " } methods { method: 'waystar.v1.PathService/FindPath' requests: ",
      requests, " failures { code: 8 count: ", 10 * seconds, " } latency_counts: [0, 0, 0, 0, 0, 0, 0, 0, ",
      requests, "] } lanes { lane: 'small' workers: 2 started: ", seconds, " ran { seconds: ", seconds,
      " } } maps { map: 'arena' version { revision: ", 3 * seconds, " } bytes: ", 3 << 20,
      " } map_count: 7 map_bytes: ", 30 << 20, " ", more));
}

TEST(TopRatesTest, AreWhatHappenedInBetween) {
  const Rates rates = RatesBetween(After(10), After(12));
  EXPECT_EQ(rates.period, absl::Seconds(2));
  EXPECT_DOUBLE_EQ(rates.requests_per_second, 100);
  EXPECT_DOUBLE_EQ(rates.failures_per_second, 10);
  EXPECT_DOUBLE_EQ(rates.refusals_per_second, 10);
  ASSERT_EQ(rates.methods.size(), 1U);
  EXPECT_EQ(rates.methods[0].median, absl::Nanoseconds(4'500));
  EXPECT_EQ(rates.methods[0].percentile_99, absl::Nanoseconds(4'990));
  EXPECT_DOUBLE_EQ(rates.lanes.at(0).busy, 0.5);
  EXPECT_EQ(rates.maps.at(0).updates_per_second, 3);
  EXPECT_FALSE(rates.connections.has_value());
}

TEST(TopRatesTest, BeginAgainWithTheServerOrAMap) {
  const Rates restarted = RatesBetween(After(100), After(4));
  EXPECT_EQ(restarted.period, absl::Seconds(4));
  EXPECT_DOUBLE_EQ(restarted.requests_per_second, 100);
  EXPECT_FALSE(restarted.maps[0].updates_per_second.has_value());
  v1::GetServerStatisticsResponse created_again = After(12);
  created_again.mutable_maps(0)->mutable_version()->set_epoch(3);
  EXPECT_FALSE(RatesBetween(After(10), created_again).maps[0].updates_per_second.has_value());
}

TEST(TopTextTest, LeavesOutWhatDoesNotFit) {
  Rates rates;
  for (int i = 0; i < 50; ++i) {
    rates.methods.push_back({.method = "waystar.v1.S/M" + std::to_string(i)});
    rates.maps.push_back({.map = "map" + std::to_string(i)});
  }
  const std::string text = TopText(rates, "here", {80, 24});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
  EXPECT_THAT(text, HasSubstr("S/M0 "));
  EXPECT_THAT(text, HasSubstr("map0 "));
  EXPECT_THAT(text, Not(HasSubstr("map49")));
}

TEST(TopTextTest, TellsOfStartStorageAndFleet) {
  const Rates rates = RatesBetween(
      After(1, "storage { commits: 1 } fleet { conflicts: 1 }"),
      After(2,
            "loading { read_maps: 3 total_maps: 8 }"
            " storage { commits: 5 commit_time { nanos: 2000000 } log_bytes: 3145728 refuses: true"
            " error: 'no space' }"
            " fleet { staleness { nanos: 700000000 } lag: 3 landed: 4 followed: 20 conflicts: 2 commits: 8"
            " commit_time { nanos: 16000000 } refuses: true error: 'etcd is away' }"));
  const std::string text = TopText(rates, "here", {80, 24});
  EXPECT_THAT(text, HasSubstr("\nreading maps: 3 of 8\n"));
  EXPECT_THAT(text, HasSubstr("\nstorage: 4.0 commits/s  commit 0.5 ms  sync -  log 3.0 MiB  "
                              "CHANGES ARE REFUSED: no space\n"));
  EXPECT_THAT(text,
              HasSubstr("\nfleet: heard 0.7 s ago  lag 3  4.0 landed/s  20 followed/s  1.0 conflicts/s  "
                        "commit 2 ms  CHANGES ARE REFUSED: etcd is away\n"));
  const std::string json = TopJson(rates, "here");
  EXPECT_THAT(json, HasSubstr("\"loading\":{\"read_maps\":3,\"total_maps\":8}"));
  EXPECT_THAT(json, HasSubstr("\"commit_nanos\":500000,"));
  EXPECT_THAT(json, HasSubstr("\"conflicts_per_second\":1,"));
  const Rates bare = RatesBetween(After(1), After(2));
  EXPECT_THAT(TopText(bare, "here", {80, 24}), Not(HasSubstr("fleet")));
  EXPECT_THAT(TopJson(bare, "here"), HasSubstr("\"fleet\":null"));
}

TEST_F(ServerCommandsTest, TopWritesATableOrAnObjectForEachLook) {
  EXPECT_EQ(Run("top --count 1"), ExitCode::kFailure);
  int looks = 0;
  server_.get_server_statistics = [&](auto&, const v1::GetServerStatisticsRequest& request,
                                      v1::GetServerStatisticsResponse& response) {
    EXPECT_EQ(request.max_maps(), 5);
    response = After(++looks);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("top --count 2 --interval 1ms --maps 5"), ExitCode::kOk);
  EXPECT_EQ(looks, 3);
  EXPECT_THAT(out_, HasSubstr("100 requests/s  10 failed/s  10 of them refused/s"));
  EXPECT_THAT(out_, HasSubstr("PathService/FindPath  100         10        0.0045 ms  0.00499 ms  0\n"));
  EXPECT_THAT(out_, HasSubstr("arena  9         3.0        3.0 MiB\n1 of 7 maps, 30.0 MiB together\n"));
  EXPECT_THAT(out_, Not(HasSubstr("\x1b")));
  EXPECT_EQ(Run("top --count 2 --interval 1ms --maps 5 --json"), ExitCode::kOk);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 2);
  EXPECT_THAT(out_, HasSubstr("\"requests_per_second\":100,"));
}

}  // namespace
}  // namespace waystar::cli
