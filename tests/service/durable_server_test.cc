// A server with a data folder: what is there after a restart, and who may use the folder.

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/service/server.h"
#include "server/storage/folder/folder.h"
#include "tests/service/captured_log.h"
#include "tests/service/test_server.h"
#include "tests/storage/folder/crashing_folder.h"
#include "tests/storage/folder/durable_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::CrashingFolder;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DurableStore;
using ::waystar::testing::FakeClock;
using ::waystar::testing::InfoOf;
using ::waystar::testing::LogOf;
using ::waystar::testing::OpenBorrowed;
using ::waystar::testing::RestartTest;
using ::waystar::testing::TestServer;

class DurableServerTest : public RestartTest {
 protected:
  DurableServerTest() { Restart(); }
};

TEST_F(DurableServerTest, MapsAndRequestIdsAreTheSameAfterARestart) {
  server_->Create("arena", {"...", "..."});
  v1::UpdateMapRequest request = BlockRequest("arena", {CellAt(1, 0)});
  request.set_request_id("once");
  const auto first = server_->client().UpdateMap(request);
  ASSERT_TRUE(first.ok()) << first.status();
  const v1::MapInfo before = InfoOf(*server_, "arena");
  Restart();
  const v1::MapInfo after = InfoOf(*server_, "arena");
  EXPECT_EQ(after.version().epoch(), before.version().epoch());
  EXPECT_EQ(after.version().revision(), before.version().revision());
  EXPECT_EQ(after.digest(), before.digest());
  EXPECT_EQ(after.grid().walkable_cells(), 5);
  const auto again = server_->client().UpdateMap(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->already_applied());
  EXPECT_EQ(again->version().revision(), first->version().revision());
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
  v1::ListObstaclesRequest list;
  list.set_map("arena");
  const auto obstacles = server_->client().ListObstacles(list);
  ASSERT_TRUE(obstacles.ok()) << obstacles.status();
  ASSERT_EQ(obstacles->obstacles_size(), 1);
  EXPECT_LE(obstacles->obstacles(0).lifetime().seconds(), absl::ToInt64Seconds(kLifetime));
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
  TestServer server({.data_dir = "in memory", .relaxed_durability = true, .sync_interval = absl::Hours(1)},
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

}  // namespace
}  // namespace waystar
