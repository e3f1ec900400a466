// What a server tells of its data folder: in statistics, metrics and health, while the disk works and while
// it fails.

#include <string>

#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "server/service/convert/convert.h"
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

  v1::StorageStatistics Storage() {
    const auto statistics = server_.client().GetServerStatistics({});
    EXPECT_TRUE(statistics.ok()) << statistics.status();
    return statistics.ok() ? statistics->storage() : v1::StorageStatistics();
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
  const v1::StorageStatistics before = Storage();
  EXPECT_EQ(before.commits(), 1);
  ASSERT_TRUE(Block(0).ok());
  const v1::StorageStatistics after = Storage();
  EXPECT_EQ(after.commits(), 2);
  EXPECT_GT(rpc::ToNanoseconds(after.commit_time()), rpc::ToNanoseconds(before.commit_time()));
  EXPECT_GT(after.syncs(), before.syncs());
  EXPECT_GT(after.written_bytes(), before.written_bytes());
  EXPECT_GT(after.log_bytes(), before.log_bytes());
  EXPECT_EQ(after.loss_window().nanos() + after.loss_window().seconds(), 0);
  EXPECT_FALSE(after.refuses());
  const Scrape scrape = ScrapeMetrics(server_.server().metrics_port());
  EXPECT_EQ(scrape.types.at("waystar_storage_commit_seconds"), "histogram");
  EXPECT_EQ(scrape["waystar_storage_commit_seconds_count"], 2);
  EXPECT_GT(scrape["waystar_storage_commit_seconds_sum"], 0);
  EXPECT_EQ(scrape["waystar_storage_commit_seconds_bucket{le=\"+Inf\"}"], 2);
  EXPECT_EQ(scrape.types.at("waystar_storage_sync_seconds"), "histogram");
  EXPECT_EQ(scrape["waystar_storage_sync_seconds_count"], static_cast<double>(after.syncs()));
  EXPECT_EQ(scrape["waystar_storage_written_bytes_total"], static_cast<double>(after.written_bytes()));
  EXPECT_EQ(scrape["waystar_storage_refuses"], 0);
}

TEST_F(StorageStatusTest, HealthTellsWhileChangesAreRefused) {
  EXPECT_EQ(HealthOf(server_.NewChannel(), "waystar.storage"), HealthCheckResponse::SERVING);
  folder_.FailAfter(0, true);
  const absl::Status refused = Block(0);
  EXPECT_EQ(client::ReasonOf(refused), "STORAGE_FAILED");
  EXPECT_EQ(client::RetryDelayOf(refused), absl::Seconds(1));
  EXPECT_TRUE(WaitForHealth(HealthCheckResponse::NOT_SERVING));
  EXPECT_TRUE(Storage().refuses());
  EXPECT_NE(Storage().error(), "");
  EXPECT_EQ(Storage().refusals(), 1);
  EXPECT_EQ(ScrapeMetrics(server_.server().metrics_port())["waystar_storage_refuses"], 1);
  // Queries go on.
  EXPECT_EQ(HealthOf(server_.NewChannel(), ""), HealthCheckResponse::SERVING);
  EXPECT_TRUE(server_.client().FindPath(PathRequest("arena", CellAt(0, 0), CellAt(2, 0))).ok());

  folder_.StopFailing();
  EXPECT_TRUE(WaitUntil([&] { return !Storage().refuses(); }, "the disk's recovery"));
  EXPECT_TRUE(WaitForHealth(HealthCheckResponse::SERVING));
  EXPECT_TRUE(Block(0).ok());
}

TEST(StorageStatisticsTest, AreAbsentInMemory) {
  TestServer server;
  const auto statistics = server.client().GetServerStatistics({});
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  EXPECT_FALSE(statistics->has_storage());
}

}  // namespace
}  // namespace waystar
