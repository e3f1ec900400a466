// `waystar health`, `info`, `log-level`, `cluster`, `token` and `top`.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/top_command.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ServerCommandsTest : public waystar::CommandTest {};

TEST_F(ServerCommandsTest, HealthSucceedsOnlyIfServing) {
  Serve(server_.check_health, "status: SERVING");
  EXPECT_EQ(Run("health"), ExitCode::kOk);
  EXPECT_EQ(out_, "SERVING\n");
  EXPECT_EQ(Run("health waystar.v1.PathService --json"), ExitCode::kOk);
  EXPECT_THAT(asked_, HasSubstr("waystar.v1.PathService"));
  EXPECT_EQ(out_, "{\"status\":\"SERVING\"}\n");
  // The tool asks a server that other calls pass over.
  server_.SetServing(false);
  Serve(server_.check_health, "status: NOT_SERVING");
  EXPECT_EQ(Run("health"), ExitCode::kUnavailable);
  EXPECT_EQ(out_, "NOT_SERVING\n");
  server_.check_health = [](auto&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "unknown service");
  };
  EXPECT_EQ(Run("health other"), ExitCode::kRefused);
  EXPECT_EQ(err_, "waystar: the server has no service 'other'\n");
}

TEST_F(ServerCommandsTest, InfoIsATable) {
  EXPECT_EQ(Run("info"), ExitCode::kFailure) << "of a server that has none";
  Serve(server_.get_server_info,
        "version: '1.2.3' workers: 4 maps: 7 uptime { seconds: 90 } log_level: LOG_LEVEL_WARNING"
        " algorithms: ALGORITHM_ASTAR algorithms: ALGORITHM_JUMP_POINT_SEARCH"
        " limits { max_message_bytes: 4194304 max_maps: 1000 max_queued: 256 max_queue_time { nanos: "
        "500000000 } }");
  EXPECT_EQ(Run("info"), ExitCode::kOk);
  for (const char* row :
       {"version         1.2.3\n", "uptime          1m30s\n", "max message     4194304 bytes\n",
        "max maps        1000\n", "algorithms      astar, jump point search\n", "log level       warning\n",
        "max queue time  500ms\n"}) {
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

class ClusterCommandTest : public waystar::CommandTest {
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

  FakeServer other_;
  std::uint64_t other_epoch_ = 5;
};

TEST_F(ClusterCommandTest, ListsTheServers) {
  EXPECT_EQ(Run("cluster"), ExitCode::kOk);
  EXPECT_THAT(out_, HasSubstr(other_.target() + "  1.2.3 "));
  EXPECT_THAT(out_, HasSubstr(" 7     900            2    400ms          this server\n"));
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

std::string Gauge(const std::string& name, double value, const std::string& label = "",
                  const std::string& of = "") {
  return absl::StrCat("families { name: '", name, "' metrics { value: ", value,
                      label.empty() ? "" : absl::StrCat(" labels { key: '", label, "' value: '", of, "' }"),
                      " } } ");
}

std::string Times(const std::string& name, int count, double sum) {
  return absl::StrCat("families { name: '", name, "' metrics { histogram { count: ", count, " sum: ", sum,
                      " } } } ");
}

// After so many seconds with 100 FindPaths a second, of which 10 fail, all within 4 to 8 microseconds.
v1::GetMetricsResponse After(int seconds, const std::string& more = "") {
  const std::string find =
      " labels { key: 'grpc_service' value: 'waystar.v1.PathService' }"
      " labels { key: 'grpc_method' value: 'FindPath' } ";
  const auto handled = [&](const std::string& code, int count) {
    return absl::StrCat(" metrics { ", find, "labels { key: 'grpc_code' value: '", code, "' } value: ", count,
                        " }");
  };
  return Parsed<v1::GetMetricsResponse>(absl::StrCat(
      "uptime { seconds: ", seconds, " } families { name: 'waystar_open_calls' metrics { value: 0", find,
      " } } families { name: 'grpc_server_handled_total'", handled("OK", 90 * seconds),
      handled("ResourceExhausted", 10 * seconds),
      " } families { name: 'grpc_server_handling_seconds' bounds: [4e-6, 8e-6] metrics { ", find,
      "histogram { cumulative: [0, ", 100 * seconds, "] count: ", 100 * seconds, " } } } ",
      Gauge("waystar_queue_workers", 2, "lane", "small"),
      Gauge("waystar_queue_started_total", seconds, "lane", "small"),
      Gauge("waystar_queue_run_seconds_total", seconds, "lane", "small"),
      Gauge("waystar_map_bytes", 3 << 20, "map", "arena"),
      Gauge("waystar_map_revision", 3 * seconds, "map", "arena"), Gauge("waystar_maps", 7),
      Gauge("waystar_maps_bytes", 30 << 20), more));
}

std::string JsonBetween(const v1::GetMetricsResponse& before, const v1::GetMetricsResponse& after) {
  return TopJson(RatesBetween(before, after), "here");
}

TEST(TopRatesTest, AreWhatHappenedInBetween) {
  const std::string json = JsonBetween(After(10), After(12));
  for (const char* const part :
       {R"("period_nanos":2000000000,"requests_per_second":100,"failures_per_second":10,)"
        R"("refusals_per_second":10,)",
        R"("p50_nanos":6000,"p99_nanos":7960,)", "\"busy\":0.5,", "\"updates_per_second\":3,",
        "\"connections\":null,"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST(TopRatesTest, BeginAgainWithTheServerOrAMap) {
  const std::string restarted = JsonBetween(After(100), After(4));
  EXPECT_THAT(restarted, HasSubstr("\"period_nanos\":4000000000,\"requests_per_second\":100,"));
  EXPECT_THAT(restarted, HasSubstr("\"updates_per_second\":null,"));
  v1::GetMetricsResponse created_again = After(12);
  for (v1::MetricFamily& family : *created_again.mutable_families()) {
    if (family.name() == "waystar_map_revision") {
      family.mutable_metrics(0)->set_value(1);
    }
  }
  EXPECT_THAT(JsonBetween(After(10), created_again), HasSubstr("\"updates_per_second\":null,"));
}

TEST(TopTextTest, LeavesOutWhatDoesNotFit) {
  std::vector<Record> methods;
  std::vector<Record> maps;
  for (int i = 0; i < 50; ++i) {
    methods.push_back({{"method", absl::StrCat("waystar.v1.S/M", i)}});
    maps.push_back({{"map", absl::StrCat("map", i)}});
  }
  const std::string text = TopText({{"methods", methods}, {"maps", maps}}, "here", {80, 24});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
  EXPECT_THAT(text, HasSubstr("S/M0 "));
  EXPECT_THAT(text, HasSubstr("map0 "));
  EXPECT_THAT(text, Not(HasSubstr("map49")));
}

TEST(TopTextTest, TellsOfConditionsStorageAndFleet) {
  const Record rates = RatesBetween(
      After(1, Times("waystar_storage_commit_seconds", 1, 0) + Times("waystar_fleet_commit_seconds", 0, 0) +
                   Gauge("waystar_fleet_conflicts_total", 1)),
      After(2, absl::StrCat(Times("waystar_storage_commit_seconds", 5, 0.002),
                            Gauge("waystar_storage_log_bytes", 3 << 20),
                            Gauge("waystar_fleet_staleness_seconds", 0.7), Gauge("waystar_fleet_lag", 3),
                            Gauge("waystar_fleet_landed_total", 4), Gauge("waystar_fleet_followed_total", 20),
                            Gauge("waystar_fleet_conflicts_total", 2),
                            Times("waystar_fleet_commit_seconds", 8, 0.016),
                            "conditions { metric: 'waystar_storage_refuses' text: 'no space' }")));
  const std::string text = TopText(rates, "here", {80, 24});
  EXPECT_THAT(text, HasSubstr("\nATTENTION: no space\n"));
  EXPECT_THAT(text, HasSubstr("\nstorage: 4.0 commits/s  commit 0.5 ms  sync -  log 3.0 MiB\n"));
  EXPECT_THAT(text,
              HasSubstr("\nfleet: heard 0.7 s ago  lag 3  4.0 landed/s  20 followed/s  1.0 conflicts/s  "
                        "commit 2 ms\n"));
  const std::string json = TopJson(rates, "here");
  EXPECT_THAT(json, HasSubstr(R"("conditions":[{"metric":"waystar_storage_refuses","text":"no space"}])"));
  EXPECT_THAT(json, HasSubstr("\"commit_nanos\":500000,"));
  EXPECT_THAT(json, HasSubstr("\"conflicts_per_second\":1,"));
  const Record bare = RatesBetween(After(1), After(2));
  EXPECT_THAT(TopText(bare, "here", {80, 24}), Not(HasSubstr("fleet")));
  EXPECT_THAT(TopJson(bare, "here"), HasSubstr("\"fleet\":null"));
}

TEST_F(ServerCommandsTest, TopWritesATableOrAnObjectForEachLook) {
  EXPECT_EQ(Run("top --count 1"), ExitCode::kFailure);
  int looks = 0;
  server_.get_metrics = [&](auto&, const v1::GetMetricsRequest&, v1::GetMetricsResponse& response) {
    response = After(++looks);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run("top --count 2 --interval 1ms --maps 5"), ExitCode::kOk);
  EXPECT_EQ(looks, 3);
  EXPECT_THAT(out_, HasSubstr("100 requests/s  10 failed/s  10 of them refused/s"));
  EXPECT_THAT(out_, HasSubstr("PathService/FindPath  100         10        0.006 ms  0.00796 ms  0\n"));
  EXPECT_THAT(out_, HasSubstr("arena  9         3.0        3.0 MiB\n1 of 7 maps, 30.0 MiB together\n"));
  EXPECT_THAT(out_, Not(HasSubstr("\x1b")));
  EXPECT_EQ(Run("top --count 2 --interval 1ms --maps 0 --json"), ExitCode::kOk);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 2);
  EXPECT_THAT(out_, HasSubstr("\"requests_per_second\":100,"));
  EXPECT_THAT(out_, HasSubstr("\"maps\":[]}"));
}

}  // namespace
}  // namespace waystar::cli
