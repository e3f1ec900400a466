// What a server tells of its data folder: in statistics, metrics and health, while the disk works and while
// it fails.

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "tests/service/metrics/scrape.h"
#include "tests/service/test_server.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

using ::grpc::health::v1::HealthCheckResponse;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::HealthOf;
using ::waystar::testing::OpenBorrowed;
using ::waystar::testing::PathRequest;
using ::waystar::testing::Scrape;
using ::waystar::testing::ScrapeMetrics;
using ::waystar::testing::TestServer;
using ::waystar::testing::WaitUntil;

class StorageStatusTest : public ::testing::Test {
 protected:
  StorageStatusTest() { server_.Create("arena", {"..."}); }

  double SumOf(const std::string& family) { return client::SumOf(server_.Metrics(), family); }
  // Returns the conditions, one per line.
  std::string Conditions() {
    std::string lines;
    const v1::GetMetricsResponse metrics = server_.Metrics();
    for (const v1::Condition& condition : metrics.conditions()) {
      absl::StrAppend(&lines, condition.metric(), ": ", condition.text(), "\n");
    }
    return lines;
  }

  absl::Status Block(int x) {
    return server_.client().UpdateMap(BlockRequest("arena", {CellAt(x, 0)})).status();
  }

  // Answers and statistics know of a change before health does.
  bool WaitForHealth(HealthCheckResponse::ServingStatus status) {
    return WaitUntil([&] { return HealthOf(server_.NewChannel(), "waystar.storage") == status; },
                     "the health of the storage");
  }

  CrashingFolder folder_;
  TestServer server_{
      {.data_dir = "in memory", .metrics_listen = "127.0.0.1:0"}, absl::Hours(1), OpenBorrowed(folder_)};
};

TEST_F(StorageStatusTest, CountsWhatIsWritten) {
  const v1::GetMetricsResponse before = server_.Metrics();
  EXPECT_EQ(client::SumOf(before, "waystar_storage_commit_seconds"), 1);
  ASSERT_TRUE(Block(0).ok());
  const v1::GetMetricsResponse after = server_.Metrics();
  EXPECT_EQ(client::SumOf(after, "waystar_storage_commit_seconds"), 2);
  for (const char* const grows :
       {"waystar_storage_sync_seconds", "waystar_storage_written_bytes_total", "waystar_storage_log_bytes"}) {
    EXPECT_GT(client::SumOf(after, grows), client::SumOf(before, grows)) << grows;
  }
  EXPECT_EQ(client::SumOf(after, "waystar_storage_loss_window_seconds"), 0);
  EXPECT_EQ(after.conditions_size(), 0);
  const Scrape scrape = ScrapeMetrics(server_.server().metrics_port());
  EXPECT_EQ(scrape.types.at("waystar_storage_commit_seconds"), "histogram");
  EXPECT_EQ(scrape["waystar_storage_commit_seconds_count"], 2);
  EXPECT_GT(scrape["waystar_storage_commit_seconds_sum"], 0);
  EXPECT_EQ(scrape["waystar_storage_commit_seconds_bucket{le=\"+Inf\"}"], 2);
  EXPECT_EQ(scrape.types.at("waystar_storage_sync_seconds"), "histogram");
  EXPECT_EQ(scrape["waystar_storage_refuses"], 0);
}

TEST_F(StorageStatusTest, HealthTellsWhileChangesAreRefused) {
  EXPECT_EQ(HealthOf(server_.NewChannel(), "waystar.storage"), HealthCheckResponse::SERVING);
  folder_.FailAfter(0, true);
  const absl::Status refused = Block(0);
  EXPECT_EQ(client::ReasonOf(refused), "STORAGE_FAILED");
  EXPECT_EQ(client::RetryDelayOf(refused), absl::Seconds(1));
  EXPECT_TRUE(WaitForHealth(HealthCheckResponse::NOT_SERVING));
  EXPECT_EQ(SumOf("waystar_storage_refuses"), 1);
  EXPECT_THAT(Conditions(), ::testing::MatchesRegex("waystar_storage_refuses: changes are refused: .+\n"));
  EXPECT_EQ(SumOf("waystar_storage_refusals_total"), 1);
  EXPECT_EQ(ScrapeMetrics(server_.server().metrics_port())["waystar_storage_refuses"], 1);
  // Queries go on.
  EXPECT_EQ(HealthOf(server_.NewChannel(), ""), HealthCheckResponse::SERVING);
  EXPECT_TRUE(server_.client().FindPath(PathRequest("arena", CellAt(0, 0), CellAt(2, 0))).ok());

  folder_.StopFailing();
  EXPECT_TRUE(WaitUntil([&] { return Conditions().empty(); }, "the disk's recovery"));
  EXPECT_TRUE(WaitForHealth(HealthCheckResponse::SERVING));
  EXPECT_TRUE(Block(0).ok());
}

TEST(StorageMetricsTest, AreAbsentInMemory) {
  TestServer server;
  EXPECT_TRUE(client::MetricsOf(server.Metrics(), "waystar_storage_refuses").empty());
}

}  // namespace
}  // namespace waystar
