// waystar top: what a server did between two looks at it.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "client/cli/top_rates.h"
#include "tests/client/cli/command_test.h"

namespace waystar::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// After so many seconds with 100 FindPaths a second, of which 10 fail, all within 4 to 5 microseconds.
v1::GetServerStatisticsResponse After(int seconds) {
  v1::GetServerStatisticsResponse response;
  response.mutable_uptime()->set_seconds(seconds);
  v1::MethodStatistics& method = *response.add_methods();
  method.set_method("waystar.v1.PathService/FindPath");
  method.set_requests(static_cast<std::uint64_t>(100 * seconds));
  v1::CodeCount& failures = *method.add_failures();
  failures.set_code(static_cast<int>(absl::StatusCode::kResourceExhausted));
  failures.set_count(static_cast<std::uint64_t>(10 * seconds));
  for (int bucket = 0; bucket < 8; ++bucket) {
    method.add_latency_counts(0);
  }
  method.add_latency_counts(static_cast<std::uint64_t>(100 * seconds));
  v1::LaneStatistics& lane = *response.add_lanes();
  lane.set_lane("small");
  lane.set_workers(2);
  lane.set_started(static_cast<std::uint64_t>(seconds));
  lane.mutable_ran()->set_seconds(seconds);
  v1::MapStatistics& map = *response.add_maps();
  map.set_map("arena");
  map.mutable_version()->set_revision(static_cast<std::uint64_t>(3 * seconds));
  map.set_bytes(3 << 20);
  response.set_map_count(7);
  response.set_map_bytes(30 << 20);
  return response;
}

TEST(TopRatesTest, AreWhatHappenedInBetween) {
  const Rates rates = RatesBetween(After(10), After(12));
  EXPECT_EQ(rates.period, absl::Seconds(2));
  EXPECT_DOUBLE_EQ(rates.requests_per_second, 100);
  EXPECT_DOUBLE_EQ(rates.failures_per_second, 10);
  EXPECT_DOUBLE_EQ(rates.refusals_per_second, 10);
  ASSERT_THAT(rates.methods, SizeIs(1));
  EXPECT_EQ(rates.methods[0].median, absl::Nanoseconds(4'500));
  EXPECT_EQ(rates.methods[0].percentile_99, absl::Nanoseconds(4'990));
  ASSERT_THAT(rates.lanes, SizeIs(1));
  EXPECT_DOUBLE_EQ(rates.lanes[0].busy, 0.5);
  ASSERT_THAT(rates.maps, SizeIs(1));
  EXPECT_EQ(rates.maps[0].updates_per_second, 3);
  EXPECT_FALSE(rates.connections.has_value());
}

TEST(TopRatesTest, BeginAnewWithTheServer) {
  const Rates rates = RatesBetween(After(100), After(4));
  EXPECT_EQ(rates.period, absl::Seconds(4));
  EXPECT_DOUBLE_EQ(rates.requests_per_second, 100);
  EXPECT_FALSE(rates.maps[0].updates_per_second.has_value());
}

TEST(TopRatesTest, BeginAnewWithAMapThatIsCreatedAgain) {
  v1::GetServerStatisticsResponse before = After(10);
  before.mutable_maps(0)->mutable_version()->set_epoch(7);
  v1::GetServerStatisticsResponse after = After(12);
  after.mutable_maps(0)->mutable_version()->set_epoch(3);
  EXPECT_FALSE(RatesBetween(before, after).maps[0].updates_per_second.has_value());
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

TEST(TopTextTest, TellsHowManyMapsAreRead) {
  v1::GetServerStatisticsResponse loading = After(2);
  loading.mutable_loading()->set_read_maps(3);
  loading.mutable_loading()->set_total_maps(8);
  const Rates rates = RatesBetween(After(1), loading);
  EXPECT_THAT(TopText(rates, "here", {80, 24}), HasSubstr("\nreading maps: 3 of 8\n"));
  EXPECT_THAT(TopJson(rates, "here"), HasSubstr("\"loading\":{\"read_maps\":3,\"total_maps\":8}"));
}

TEST(TopTextTest, TellsOfStorage) {
  v1::GetServerStatisticsResponse before = After(1);
  before.mutable_storage()->set_commits(1);
  v1::GetServerStatisticsResponse after = After(2);
  after.mutable_storage()->set_commits(5);
  after.mutable_storage()->mutable_commit_time()->set_nanos(2'000'000);
  after.mutable_storage()->set_log_bytes(3 << 20);
  after.mutable_storage()->set_refuses(true);
  after.mutable_storage()->set_error("no space");
  const Rates rates = RatesBetween(before, after);
  EXPECT_THAT(TopText(rates, "here", {80, 24}),
              HasSubstr("\nstorage: 4.0 commits/s  commit 0.5 ms  sync -  log 3.0 MiB  "
                        "CHANGES ARE REFUSED: no space\n"));
  EXPECT_THAT(TopJson(rates, "here"), HasSubstr("\"commit_nanos\":500000,"));
}

TEST(TopTextTest, TellsOfTheFleet) {
  v1::GetServerStatisticsResponse before = After(1);
  before.mutable_fleet()->set_conflicts(1);
  v1::GetServerStatisticsResponse after = After(2);
  after.mutable_fleet()->mutable_staleness()->set_nanos(700'000'000);
  after.mutable_fleet()->set_lag(3);
  after.mutable_fleet()->set_landed(4);
  after.mutable_fleet()->set_followed(20);
  after.mutable_fleet()->set_conflicts(2);
  after.mutable_fleet()->set_commits(8);
  after.mutable_fleet()->mutable_commit_time()->set_nanos(16'000'000);
  const std::string line =
      "\nfleet: heard 0.7 s ago  lag 3  4.0 landed/s  20 followed/s  1.0 conflicts/s  commit 2 ms";
  EXPECT_THAT(TopText(RatesBetween(before, after), "here", {80, 24}), HasSubstr(line + "\n"));
  EXPECT_THAT(TopJson(RatesBetween(before, after), "here"), HasSubstr("\"conflicts_per_second\":1,"));
  after.mutable_fleet()->set_refuses(true);
  after.mutable_fleet()->set_error("etcd is away");
  EXPECT_THAT(TopText(RatesBetween(before, after), "here", {80, 24}),
              HasSubstr(line + "  CHANGES ARE REFUSED: etcd is away\n"));
  EXPECT_THAT(TopText(RatesBetween(After(1), After(2)), "here", {80, 24}), Not(HasSubstr("fleet")));
  EXPECT_THAT(TopJson(RatesBetween(After(1), After(2)), "here"), HasSubstr("\"fleet\":null"));
}

class TopCommandTest : public ::waystar::testing::CommandTest {
 protected:
  TopCommandTest() {
    server_.get_server_statistics = [this](grpc::ServerContext&,
                                           const v1::GetServerStatisticsRequest& request,
                                           v1::GetServerStatisticsResponse& response) {
      max_maps_ = request.max_maps();
      response = After(++looks_);
      return grpc::Status::OK;
    };
  }

  int looks_ = 0;
  int max_maps_ = -1;
};

TEST_F(TopCommandTest, WritesTablesOneBelowTheOther) {
  EXPECT_EQ(Run({"top", "--count", "2", "--interval", "1ms", "--maps", "5"}), ExitCode::kOk);
  EXPECT_EQ(looks_, 3);
  EXPECT_EQ(max_maps_, 5);
  EXPECT_THAT(out_, HasSubstr("100 requests/s  10 failed/s  10 of them refused/s"));
  EXPECT_THAT(out_, HasSubstr("PathService/FindPath  100         10        0.0045 ms  0.00499 ms  0\n"));
  EXPECT_THAT(out_, HasSubstr("arena  9         3.0        3.0 MiB\n1 of 7 maps, 30.0 MiB together\n"));
  EXPECT_THAT(out_, Not(HasSubstr("\x1b")));
}

TEST_F(TopCommandTest, WritesAnObjectALine) {
  EXPECT_EQ(Run({"top", "--count", "2", "--interval", "1ms", "--json"}), ExitCode::kOk);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 2);
  EXPECT_THAT(out_, HasSubstr("\"requests_per_second\":100,"));
  EXPECT_THAT(out_, HasSubstr("\"connections\":null"));
}

TEST_F(TopCommandTest, EndsWithTheServersError) {
  server_.get_server_statistics = nullptr;
  EXPECT_EQ(Run({"top", "--count", "1"}), ExitCode::kFailure);
}

}  // namespace
}  // namespace waystar::cli
