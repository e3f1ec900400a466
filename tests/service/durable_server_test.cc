// A server with a data folder: what is there after a restart, and who may use the folder.

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "grpcpp/create_channel.h"
#include "server/service/server.h"
#include "server/storage/folder/folder.h"
#include "tests/service/about_map.h"
#include "tests/service/test_server.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar {
namespace {

using ::grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;
using ::testing::Not;

class DurableServerTest : public RestartTest {
 protected:
  DurableServerTest() { Restart(); }
};

TEST_F(DurableServerTest, MapsAndRequestIdsAreTheSameAfterARestart) {
  server_->Create("arena", {"...", "..."});
  v1::UpdateMapRequest request = BlockRequest("arena", {CellAt(1, 0)});
  request.set_request_id("once");
  const auto first = server_->client().UpdateMap(request).value();
  const v1::MapInfo before = InfoOf(*server_, "arena");
  Restart();
  const v1::MapInfo after = InfoOf(*server_, "arena");
  EXPECT_EQ(after.version().epoch(), before.version().epoch());
  EXPECT_EQ(after.version().revision(), before.version().revision());
  EXPECT_EQ(after.digest(), before.digest());
  EXPECT_EQ(after.grid().walkable_cells(), 5);
  const auto again = server_->client().UpdateMap(request).value();
  EXPECT_TRUE(again.already_applied());
  EXPECT_EQ(again.version().revision(), first.version().revision());
}

// A machine whose clock was set back while the server was down.
TEST_F(DurableServerTest, TheClockGoesOnFromTheLastChange) {
  constexpr absl::Duration kSetBack = absl::Hours(1);
  constexpr absl::Duration kLifetime = absl::Minutes(10);
  server_.reset();
  {
    const FakeClock clock(absl::Now() + kSetBack);
    DurableStore store(storage::OpenPosixFolder(options_.data_dir), {}, {.clock = &clock});
    ASSERT_TRUE(store.status().ok()) << store.status();
    ASSERT_TRUE(store.store().Create("arena", DrawMap({"..."}), clock.Now()).ok());
    store.Update("arena", {core::PutObstacle{.obstacle = {.id = "tent", .shape = {.cells = {{1, 0}}}},
                                             .lifetime = kLifetime}});
  }
  EXPECT_THAT(LogOf([&] { Restart(); }), HasSubstr("event=clock_behind"));
  auto list = About<v1::ListObstaclesRequest>("arena");
  const auto obstacles = server_->client().ListObstacles(list).value();
  ASSERT_EQ(obstacles.obstacles_size(), 1);
  EXPECT_LE(obstacles.obstacles(0).lifetime().seconds(), absl::ToInt64Seconds(kLifetime));
  // Of a client whose clock is right.
  v1::UpdateMapRequest request = BlockRequest("arena", {CellAt(0, 0)});
  request.set_request_id("once");
  request.mutable_request_time()->set_seconds(absl::ToUnixSeconds(absl::Now() + kSetBack));
  const auto applied = server_->client().UpdateMap(request);
  EXPECT_TRUE(applied.ok()) << applied.status();
  // The times of new maps are those of the clock, too.
  server_->Create("yard", {"..."});
  EXPECT_GE(InfoOf(*server_, "yard").create_time().seconds(),
            InfoOf(*server_, "arena").create_time().seconds());
}

TEST_F(DurableServerTest, AClockThatIsRightIsNoNews) {
  server_->Create("arena", {"..."});
  EXPECT_THAT(LogOf([&] { Restart(); }), Not(HasSubstr("event=clock_behind")));
}

TEST_F(DurableServerTest, WarnsOfAFolderThatOthersMayWriteTo) {
  EXPECT_THAT(LogOf([&] { Restart(); }), Not(HasSubstr("event=data_open_to_all")));
  std::filesystem::permissions(options_.data_dir, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(LogOf([&] { Restart(); }),
              HasSubstr(absl::StrCat("level=warning event=data_open_to_all folder=", options_.data_dir)));
}

TEST_F(DurableServerTest, FilesBecomeMapsOnlyIfThereAreNoneOfTheirNames) {
  std::ofstream(folder_ / "maps" / "arena.txt") << "...\n";
  Restart();
  ASSERT_TRUE(server_->client().UpdateMap(BlockRequest("arena", {CellAt(1, 0)})).ok());
  Restart();
  EXPECT_EQ(InfoOf(*server_, "arena").grid().walkable_cells(), 2);
}

enum class Fault { kNone, kBeforeStop, kAfterStop };

// Returns the status with which a server ends whose disk breaks then.
absl::Status EndWith(Fault fault) {
  CrashingFolder folder;
  TestServer server({.data_dir = "in memory", .durability = "relaxed", .sync_interval = absl::Hours(1)},
                    absl::Hours(1), OpenBorrowed(folder));
  server.Create("arena", {"..."});
  if (fault == Fault::kBeforeStop) {
    folder.FailAfter(0, true);
  }
  server.server().Stop(absl::ZeroDuration());
  if (fault == Fault::kAfterStop) {
    folder.FailAfter(0, true);
  }
  return server.End();
}

TEST(EndedServerTest, SaysWhetherAllIsOnStableStorage) {
  EXPECT_TRUE(EndWith(Fault::kNone).ok());
  EXPECT_FALSE(EndWith(Fault::kBeforeStop).ok());
  EXPECT_FALSE(EndWith(Fault::kAfterStop).ok());
}

TEST_F(DurableServerTest, ASecondServerOfTheFolderIsRefused) {
  const absl::Status second = StartError();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition) << second;
  EXPECT_THAT(std::string(second.message()), HasSubstr(options_.data_dir));
}

// A server that is still reading its maps.

// A folder that cannot be read before it is told.
class SlowFolder final : public BorrowedFolder {
 public:
  SlowFolder(storage::Folder& folder, Event& may_read, Event& reads)
      : BorrowedFolder(folder), may_read_(may_read), reads_(reads) {}

  absl::StatusOr<std::string> Read(absl::string_view name) const override {
    reads_.Happen();
    may_read_.Wait();
    return BorrowedFolder::Read(name);
  }

 private:
  Event& may_read_;
  Event& reads_;
};

class LoadingTest : public ::testing::Test {
 protected:
  LoadingTest() {
    options_.data_dir = "in memory";
    TestServer(options_, absl::Hours(1), OpenBorrowed(folder_)).Create("arena", {"..."});
    options_.workers = 1;
    // An address that is known before the server tells its port.
    options_.listen = absl::StrCat("unix:", ::testing::TempDir(), "/loading-", ::getpid());
    start_ = std::thread([this] {
      auto server = rpc::Server::Start(
          options_, [this](const std::string&) -> absl::StatusOr<std::unique_ptr<storage::Folder>> {
            return std::make_unique<SlowFolder>(folder_, may_read_, reads_);
          });
      EXPECT_TRUE(server.ok()) << server.status();
      if (server.ok()) {
        server_ = *std::move(server);
      }
      is_started_.Happen();
    });
    EXPECT_TRUE(reads_.Wait());
    channel_ = grpc::CreateChannel(options_.listen, grpc::InsecureChannelCredentials());
  }
  ~LoadingTest() override {
    may_read_.Happen();
    start_.join();
  }

  void LetItRead() {
    may_read_.Happen();
    EXPECT_TRUE(is_started_.Wait());
  }

  grpc::Status FindPath() {
    v1::FindPathResponse response;
    BoundedContext context;
    return v1::PathService::NewStub(channel_)->FindPath(
        &context, PathRequest("arena", CellAt(0, 0), CellAt(2, 0)), &response);
  }

  v1::GetMetricsResponse Metrics() {
    v1::GetMetricsResponse response;
    BoundedContext context;
    const grpc::Status status = v1::ServerService::NewStub(channel_)->GetMetrics(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  CrashingFolder folder_;
  runtime::Options options_;
  Event may_read_{"leave to read the maps"};
  Event reads_{"the server to read its maps"};
  Event is_started_{"the start of the server"};
  std::unique_ptr<rpc::Server> server_;
  std::thread start_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(LoadingTest, CallsAboutMapsAreRefusedUntilAllAreThere) {
  const grpc::Status refused = FindPath();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(client::ReasonOf(client::FromGrpc(refused)), "MAPS_LOADING");
  LetItRead();
  const grpc::Status found = FindPath();
  EXPECT_TRUE(found.ok()) << found.error_message();
}

TEST_F(LoadingTest, HealthTellsWhenTheyAre) {
  EXPECT_EQ(HealthOf(channel_, ""), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(HealthOf(channel_, "waystar.v1.PathService"), HealthCheckResponse::NOT_SERVING);
  LetItRead();
  EXPECT_EQ(HealthOf(channel_, ""), HealthCheckResponse::SERVING);
  EXPECT_EQ(HealthOf(channel_, "waystar.v1.PathService"), HealthCheckResponse::SERVING);
}

TEST_F(LoadingTest, MetricsAreThereMeanwhile) {
  const v1::GetMetricsResponse before = Metrics();
  EXPECT_EQ(client::SumOf(before, "waystar_loading"), 1);
  ASSERT_EQ(before.conditions_size(), 1);
  EXPECT_EQ(before.conditions(0).metric(), "waystar_loading");
  EXPECT_THAT(before.conditions(0).text(), ::testing::HasSubstr("0 of "));
  LetItRead();
  const v1::GetMetricsResponse after = Metrics();
  EXPECT_EQ(client::SumOf(after, "waystar_loading"), 0);
  EXPECT_EQ(after.conditions_size(), 0);
  EXPECT_EQ(client::SumOf(after, "waystar_maps"), 1);
}

// A server with more maps than its memory has room for.

class UnloadedMapsTest : public RestartTest {
 protected:
  static constexpr int kMaps = 100;
  static constexpr int kWidth = 640;
  static constexpr int kHeight = 480;

  UnloadedMapsTest() {
    options_.max_maps_memory_mib = 4;
    Restart();
  }

  static std::string IdOf(int i) { return absl::StrCat("map-", i); }
  // Map `i` has a wall in column `i + 1`, open at the bottom.
  void CreateMaps() {
    for (int i = 0; i < kMaps; ++i) {
      std::vector<std::string> rows(kHeight, std::string(kWidth, '.'));
      for (int y = 0; y < kHeight - 1; ++y) {
        rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(i + 1)] = '#';
      }
      server_->Create(IdOf(i), rows);
    }
  }
  double SumOf(const std::string& metric) { return client::SumOf(server_->Metrics(), metric); }
  // Waits until the metrics count every map once: the keeper may unload some while they are read.
  bool WaitUntilAllAreCounted() {
    const auto are_counted = [&] {
      const v1::GetMetricsResponse metrics = server_->Metrics();
      return client::SumOf(metrics, "waystar_unloaded_maps") + client::SumOf(metrics, "waystar_maps") ==
             kMaps;
    };
    return WaitUntil(are_counted, "all maps in the metrics");
  }
  // The cost of the way around the wall.
  double CostOn(int i) {
    return server_->Find(PathRequest(IdOf(i), CellAt(0, 0), CellAt(kWidth - 1, 0))).cost();
  }
  // Returns the first map that is not in memory.
  int FirstUnloaded() {
    v1::ListMapsRequest request;
    request.set_page_size(kMaps + 1);
    const auto maps = server_->client().ListMaps(request);
    EXPECT_TRUE(maps.ok()) << maps.status();
    for (int i = 0; i < kMaps; ++i) {
      for (const v1::MapInfo& info : maps->maps()) {
        if (info.map() == IdOf(i) && info.unloaded()) {
          return i;
        }
      }
    }
    return kMaps;
  }
};

TEST_F(UnloadedMapsTest, QueriesWaitUntilTheirMapIsThere) {
  CreateMaps();
  EXPECT_GT(SumOf("waystar_unloaded_maps"), 0);
  EXPECT_TRUE(WaitUntilAllAreCounted());
  std::map<int, double> costs;
  for (int i = 0; i < kMaps; ++i) {
    costs[i] = CostOn(i);
    EXPECT_GT(costs[i], 2 * (kHeight - 1));
  }
  EXPECT_GT(SumOf("waystar_map_loads_total"), 0);
  EXPECT_GT(SumOf("waystar_map_evictions_total"), 0);
  Restart();
  EXPECT_TRUE(WaitUntilAllAreCounted());
  for (int i = 0; i < kMaps; ++i) {
    EXPECT_EQ(CostOn(i), costs[i]);
  }
}

TEST_F(UnloadedMapsTest, ChangesAreMadeAsInMemory) {
  CreateMaps();
  const int i = FirstUnloaded();
  ASSERT_LT(i, kMaps);
  v1::UpdateMapRequest update = BlockRequest(IdOf(i), {CellAt(0, 3)});
  update.set_request_id("once");
  const auto updated = server_->client().UpdateMap(update).value();
  EXPECT_EQ(updated.version().revision(), 2U);
  // Until it is let go of again.
  for (int other = 0; other < kMaps; ++other) {
    CostOn(other);
  }
  const auto again = server_->client().UpdateMap(update).value();
  EXPECT_TRUE(again.already_applied());

  auto remove = About<v1::DeleteMapRequest>(IdOf(FirstUnloaded()));
  ASSERT_LT(FirstUnloaded(), kMaps);
  EXPECT_TRUE(server_->client().DeleteMap(remove).ok());
  EXPECT_THAT(server_->client().FindPath(PathRequest(remove.map(), CellAt(0, 0), CellAt(1, 0))),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

TEST_F(UnloadedMapsTest, PortalsLeadToMapsThatAreNotInMemory) {
  CreateMaps();
  const int i = FirstUnloaded();
  ASSERT_LT(i, kMaps);
  auto update = About<v1::UpdateMapRequest>(IdOf(kMaps - 1));
  v1::Portal& portal = *update.add_edits()->mutable_add_portal();
  portal.set_id("gate");
  *portal.mutable_from() = CellAt(0, 0);
  portal.set_to_map(IdOf(i));
  *portal.mutable_to() = CellAt(0, 0);
  ASSERT_TRUE(server_->client().UpdateMap(update).ok());
  v1::FindPathRequest query = PathRequest(IdOf(kMaps - 1), CellAt(0, 0), CellAt(0, 5));
  query.set_goal_map(IdOf(i));
  const v1::FindPathResponse answer = server_->Find(query);
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_FOUND) << answer.DebugString();
}

TEST_F(UnloadedMapsTest, AllAreExported) {
  CreateMaps();
  const client::Client client(
      client::Options{.target = server_->target(), .timeout = kPatience, .transfer_timeout = kPatience});
  v1::ExportMapRequest request;
  request.set_format(v1::MAP_FORMAT_WAYSTAR);
  for (int i = 0; i < kMaps; ++i) {
    request.set_map(IdOf(i));
    const auto map = client.ExportMap(request);
    EXPECT_TRUE(map.ok()) << map.status();
  }
  EXPECT_GT(SumOf("waystar_map_loads_total"), 0);
}

TEST_F(UnloadedMapsTest, ManyClientsAskForMoreThanThereIsRoomFor) {
  CreateMaps();
  std::atomic<int> failures = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (std::uint64_t n = 0; n < Rounds(60); ++n) {
        const int i = static_cast<int>((n * 7 + static_cast<std::uint64_t>(c) * 11) % kMaps);
        const auto found =
            server_->client().FindPath(PathRequest(IdOf(i), CellAt(0, 0), CellAt(kWidth - 1, 0)));
        if (!found.ok()) {
          ADD_FAILURE() << found.status();
          ++failures;
        }
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace waystar
