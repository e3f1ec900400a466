// Maps are loaded beside all that goes on: those that others begin, and those that are not in memory.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/maintenance/map_keeper.h"
#include "tests/storage/fleet/fleet_server.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/random.h"

namespace waystar::cluster {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// Holds up the loading of maps.
class Gate {
 public:
  ~Gate() { Open(); }

  void Close() {
    MutexLock lock(mutex_);
    is_closed_ = true;
  }
  void Open() {
    MutexLock lock(mutex_);
    is_closed_ = false;
    opened_.NotifyAll();
  }
  // Returns once it is open.
  void Pass() {
    MutexLock lock(mutex_);
    ++arrived_;
    while (is_closed_) {
      opened_.Wait(mutex_);
    }
  }
  int arrived() {
    MutexLock lock(mutex_);
    return arrived_;
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  int arrived_ ABSL_GUARDED_BY(mutex_) = 0;
};

class FleetLoadingTest : public FleetTest {
 protected:
  FleetOptions Held() {
    FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
    options.log.on_load = [this](absl::string_view /*id*/) { gate_.Pass(); };
    return options;
  }

  // It outlives the servers of a test.
  Gate gate_;
};

TEST_F(FleetLoadingTest, OtherMapsGoOnMeanwhile) {
  FleetServer a(*etcd_);
  FleetServer b(Held());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  b.AwaitRevision("tower", 1);
  gate_.Close();
  ASSERT_THAT(a.Create("arena", {"........"}), IsOk());
  WaitUntil([&] { return gate_.arrived() == 2; }, "the loading");
  a.UpdateEach("arena", 0, 5);
  ASSERT_THAT(a.Update("tower", 0), IsOk());
  b.AwaitRevision("tower", 2);
  ASSERT_THAT(b.Update("tower", 1), IsOk());
  EXPECT_EQ(b.RevisionOf("arena"), 0U);
  gate_.Open();
  ExpectSame(a, b, "arena");
  ASSERT_THAT(b.Update("arena", 6), IsOk());
  ExpectSame(a, b, "arena");
}

TEST_F(FleetLoadingTest, WhatHappensToTheMapMeanwhileComesInItsOrder) {
  FleetServer a(*etcd_);
  FleetServer b(Held());
  gate_.Close();
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  ASSERT_THAT(a.Update("arena", 0), IsOk());
  ASSERT_THAT(a.store.Replace("arena", DrawMap({"#..", "..."}), a.store.Now()), IsOk());
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  ASSERT_THAT(a.store.Delete("arena", {}), IsOk());
  ASSERT_THAT(a.Create("arena", {"..#"}), IsOk());
  ASSERT_THAT(a.Update("arena", 0), IsOk());
  gate_.Open();
  WaitUntil([&] { return gate_.arrived() == 3 && b.RevisionOf("arena") == 2; }, "the last map");
  ExpectSame(a, b, "arena");
  EXPECT_THAT(b.AwaitHeard(5), ElementsAre(2, 0, 2, 0, 2));
}

TEST_F(FleetLoadingTest, AMapOfOnesOwnWaitsForThatOfOthers) {
  FleetServer a(*etcd_);
  FleetServer b(Held());
  gate_.Close();
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  WaitUntil([&] { return gate_.arrived() == 1; }, "the loading");
  absl::Status refused;
  std::thread creation([&] { refused = b.Create("arena", {".."}); });
  ASSERT_THAT(a.Update("arena", 0), IsOk());
  gate_.Open();
  creation.join();
  EXPECT_THAT(refused, FailsWith("MAP_EXISTS"));
  ExpectSame(a, b, "arena");
}

TEST_F(FleetLoadingTest, TooManyChangesAreReadAfresh) {
  FleetServer a(*etcd_);
  FleetOptions options = Held();
  options.log.max_waiting_changes = 3;
  FleetServer b(options);
  ASSERT_THAT(a.Create("yard", {"...."}), IsOk());
  b.AwaitRevision("yard", 1);
  gate_.Close();
  ASSERT_THAT(a.Create("arena", {"................"}), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  a.UpdateEach("arena", 0, 10);
  // Once it has heard of this, it has heard of all that.
  ASSERT_THAT(a.Update("yard", 0), IsOk());
  b.AwaitRevision("yard", 2);
  const std::int64_t seen = b.fleet->Statistics().revision;
  WaitUntil([&] { return a.fleet->Statistics().revision > seen; }, "what the other has not loaded yet");
  gate_.Open();
  ExpectSame(a, b, "arena");
  ExpectSame(a, b, "tower");
  EXPECT_EQ(b.fleet->Statistics().broken, 0U);
  ASSERT_THAT(b.Update("arena", 11), IsOk());
  ExpectSame(a, b, "arena");
}

// What one record has no room for is read as maps are: nothing else waits for it.
TEST_F(FleetLoadingTest, OtherMapsGoOnWhileALargeRecordIsRead) {
  FleetServer a(*etcd_);
  FleetServer b(Held());
  constexpr int kSide = 600;
  ASSERT_THAT(a.Create("arena", std::vector<std::string>(kSide, std::string(kSide, '.'))), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  b.AwaitRevision("tower", 1);
  gate_.Close();
  std::vector<core::Edit> edits;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      edits.push_back(Block({x, y}));
    }
  }
  ASSERT_THAT(a.store.UpdateAndWait("arena", {.edits = edits}), IsOk());
  WaitUntil([&] { return gate_.arrived() == 3; }, "the loading of the record");
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  ASSERT_THAT(a.Update("tower", 0), IsOk());
  b.AwaitRevision("tower", 2);
  ASSERT_THAT(b.Update("tower", 1), IsOk());
  EXPECT_EQ(b.RevisionOf("arena"), 1U);
  gate_.Open();
  ExpectSame(a, b, "arena");
}

// Events that came before all was read afresh are behind what was read.
TEST_F(FleetLoadingTest, AMapThatWasGoneWhenAllWasReadDoesNotComeBack) {
  FleetServer a(*etcd_);
  Gate log;
  FleetOptions options = Held();
  options.log.max_waiting_changes = 0;
  options.log.on_commit = [&](absl::Duration /*waited*/) { log.Pass(); };
  FleetServer b(options);
  ASSERT_THAT(a.Create("yard", {"...."}), IsOk());
  b.AwaitRevision("yard", 1);
  gate_.Close();
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  ASSERT_THAT(a.Update("arena", 0), IsOk());
  ASSERT_THAT(a.Update("yard", 0), IsOk());
  b.AwaitRevision("yard", 2);
  // The log's thread stands still. Behind it are the arena, which has missed a change, and then the events.
  log.Close();
  std::thread update([&] { EXPECT_THAT(b.Update("yard", 1), IsOk()); });
  WaitUntil([&] { return log.arrived() == 1; }, "the commit");
  gate_.Open();
  WaitUntil([&] { return gate_.arrived() == 3; }, "the loading of the tower");
  const std::int64_t lag = b.fleet->Statistics().lag;
  ASSERT_THAT(a.Create("ghost", {"...."}), IsOk());
  ASSERT_THAT(a.store.Delete("ghost", {}), IsOk());
  WaitUntil([&] { return b.fleet->Statistics().lag >= lag + 2; }, "the events");
  log.Open();
  update.join();
  b.AwaitRevision("arena", 2);
  ASSERT_THAT(a.Update("arena", 1), IsOk());
  ExpectSame(a, b, "arena");
  ExpectSame(a, b, "tower");
  EXPECT_THAT(b.Heard(), Not(Contains(0U)));
  EXPECT_EQ(b.fleet->Statistics().broken, 0U);
}

TEST_F(FleetLoadingTest, AServerEndsWhileAMapIsLoaded) {
  FleetServer a(*etcd_);
  {
    FleetServer b(Held());
    gate_.Close();
    ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
    ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
    WaitUntil([&] { return gate_.arrived() == 1; }, "the loading");
    gate_.Open();
  }
  FleetServer c(*etcd_);
  ExpectSame(a, c, "arena");
}

// A server that loads maps when they are asked for.
class KeepingServer {
 public:
  explicit KeepingServer(const EtcdCluster& etcd, std::size_t max_bytes = MemoryAccount::kNoLimit)
      : KeepingServer(FleetServer::OptionsFor(etcd.Options()), max_bytes) {}
  explicit KeepingServer(const FleetOptions& options, std::size_t max_bytes = MemoryAccount::kNoLimit)
      : store(core::StoreOptions{.max_maps_bytes = max_bytes}) {
    store.SetResidence(&keeper);
    auto opened = Fleet::Open(options, store, found);
    EXPECT_THAT(opened, IsOk());
    fleet = *std::move(opened);
    keeper.Start(fleet->source(), {});
  }
  ~KeepingServer() { keeper.Stop(); }

  bool Unload(const std::string& id) {
    const auto version = fleet->source().Keep(id);
    return version.ok() && store.Unload(id, *version);
  }
  core::PinnedSnapshot Await(const std::string& id, std::uint64_t revision) {
    core::PinnedSnapshot pinned;
    WaitUntil(
        [&] {
          const absl::StatusOr<core::PinnedSnapshot> latest = store.Pin(id);
          pinned = latest.ok() ? *latest : nullptr;
          return pinned != nullptr && pinned->revision >= revision;
        },
        absl::StrCat("revision ", revision, " of ", id));
    return pinned;
  }

  // Judges that a map is what another server has, at that revision or a later one.
  void ExpectAsIn(const FleetServer& other, const std::string& id, std::uint64_t revision) {
    const core::PinnedSnapshot loaded = Await(id, revision);
    ASSERT_NE(loaded, nullptr);
    EXPECT_EQ(loaded->digest(), (*other.store.Pin(id))->digest());
  }

  core::MapStore store;
  maintenance::MapKeeper keeper{store};
  FleetFound found;
  std::unique_ptr<Fleet> fleet;
};

constexpr std::size_t kLittle = std::size_t{2} << 20;

class UnloadedMapsTest : public FleetTest {
 protected:
  static absl::Status Create(FleetServer& server, int map) {
    return server.Create(absl::StrCat("m", map), std::vector<std::string>(256, std::string(1024, '.')));
  }
  // Creates maps of which a sixth has room. Returns their number.
  static int CreateMany(FleetServer& server) {
    int maps = 0;
    while (server.store.MeasureMemory().total() < 10 * kLittle) {
      EXPECT_THAT(Create(server, maps++), IsOk());
    }
    return maps;
  }
};

TEST_F(UnloadedMapsTest, AreLoadedAsOthersHaveLeftThem) {
  FleetServer a(*etcd_);
  KeepingServer b(*etcd_);
  ASSERT_THAT(a.Create("arena", {"................"}), IsOk());
  b.Await("arena", 1);
  ASSERT_TRUE(b.Unload("arena"));
  for (int x = 0; x < 10; ++x) {
    ASSERT_THAT(a.Update("arena", x, absl::StrCat("request-", x)), IsOk());
  }
  b.ExpectAsIn(a, "arena", 11);
  const auto again =
      b.store.UpdateAndWait("arena", {.edits = {Block({3, 0})}, .request_id = "request-3"}).value();
  EXPECT_TRUE(again.already_applied);
  b.keeper.Stop();
  EXPECT_EQ(b.keeper.GetStatistics().loads, 1U);
}

TEST_F(UnloadedMapsTest, FollowWhatOthersDoToThem) {
  FleetServer a(*etcd_);
  KeepingServer b(*etcd_);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  b.Await("arena", 1);
  b.Await("tower", 1);
  ASSERT_TRUE(b.Unload("arena"));
  ASSERT_TRUE(b.Unload("tower"));
  ASSERT_THAT(a.store.Replace("arena", DrawMap({"#..", "..."}), a.store.Now()), IsOk());
  ASSERT_THAT(a.store.Delete("tower"), IsOk());
  WaitUntil([&] { return absl::IsNotFound(b.store.CheckCanDelete("tower")); }, "the end of the tower");
  b.ExpectAsIn(a, "arena", 1);
  // It deletes one that it does not have in memory.
  ASSERT_TRUE(b.Unload("arena"));
  EXPECT_THAT(b.store.Delete("arena"), IsOk());
  a.AwaitRevision("arena", 0);
}

TEST_F(UnloadedMapsTest, AreLoadedWhileOthersChangeThemAllTheTime) {
  FleetServer a(*etcd_);
  KeepingServer b(*etcd_);
  ASSERT_THAT(a.Create("arena", {"................"}), IsOk());
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (int n = 0; !is_over; ++n) {
      EXPECT_THAT(a.Update("arena", n % 16), IsOk());
    }
  });
  std::uint64_t revision = 1;
  for (std::uint64_t round = 0; round < Rounds(20); ++round) {
    revision = b.Await("arena", revision)->revision;
    // It may be changing just now.
    WaitUntil([&] { return b.Unload("arena"); }, "the map to be let go of");
  }
  is_over = true;
  writer.join();
  b.ExpectAsIn(a, "arena", a.RevisionOf("arena"));
}

// etcd knows of the end of a map before the log has followed it: the map is not damaged.
TEST_F(UnloadedMapsTest, AreNotTakenForDamagedWhenOthersDeleteAndCreateThemAgain) {
  FleetServer a(*etcd_);
  std::atomic<bool> is_held = false;
  Event holds("the log to stand still");
  Event goes_on("the log to go on");
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  options.log.on_followed = [&](std::int64_t /*revision*/) {
    if (is_held.exchange(false)) {
      holds.Happen();
      goes_on.Wait();
    }
  };
  KeepingServer b(options);
  ASSERT_THAT(a.Create("arena", {"...."}), IsOk());
  ASSERT_THAT(a.Create("tower", {"...."}), IsOk());
  b.Await("arena", 1);
  b.Await("tower", 1);
  ASSERT_TRUE(b.Unload("arena"));
  is_held = true;
  ASSERT_THAT(a.Update("tower", 0), IsOk());
  ASSERT_TRUE(holds.Wait());
  ASSERT_THAT(a.store.Delete("arena"), IsOk());
  absl::Status loaded;
  std::thread loading([&] { loaded = b.fleet->source().Load("arena"); });
  // So it most likely reads etcd in between.
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(client_->Range({.key = "x"}), IsOk());
  }
  EXPECT_THAT(a.Create("arena", {"#.."}), IsOk());
  goes_on.Happen();
  loading.join();
  EXPECT_THAT(loaded, IsOk());
  b.ExpectAsIn(a, "arena", 1);
  EXPECT_EQ(b.keeper.GetStatistics().failed_loads, 0U);
}

// Its log cannot be followed step by step, and there is nothing in memory to judge by.
TEST_F(EtcdTest, ComeThroughWhatWasCompacted) {
  EtcdCluster etcd(3);
  FleetServer a(FleetServer::OptionsFor(etcd.OptionsOf(0)));
  KeepingServer b(FleetServer::OptionsFor(etcd.OptionsOf(1)));
  ASSERT_THAT(a.Create("arena", {"........"}), IsOk());
  b.Await("arena", 1);
  ASSERT_TRUE(b.Unload("arena"));
  etcd.Kill(1);
  etcd.Leader(1);
  WaitUntil([&] { return a.Update("arena", 0).ok(); }, "a new leader");
  a.UpdateEach("arena", 1, 8);
  ASSERT_THAT(etcd.NewClient()->Compact(a.fleet->Statistics().revision), IsOk());
  etcd.Restart(1);
  const core::MapVersion last = (*a.store.Pin("arena"))->version();
  WaitUntil([&] { return b.store.UnloadedVersion("arena") == last; }, "the version");
  EXPECT_EQ(b.fleet->Statistics().broken, 0U);
  b.ExpectAsIn(a, "arena", last.revision);
}

// Maps that have no room come from the cache, too.
TEST_F(UnloadedMapsTest, AreLoadedFromTheCacheWithoutEtcd) {
  const OwnFolder folder;
  FleetServer a(*etcd_);
  FleetOptions options = FleetServer::OptionsFor(etcd_->Options());
  options.cache_dir = folder.PathOf("cache");
  options.cache_patience = absl::ZeroDuration();
  options.cache.interval = absl::Milliseconds(10);
  const int maps = CreateMany(a);
  for (int i = 0; i < maps; ++i) {
    ASSERT_THAT(a.Update(absl::StrCat("m", i), i), IsOk());
  }
  {
    const FleetServer b(options);
    WaitUntil([&] { return ImagesIn(options.cache_dir).size() == static_cast<std::size_t>(maps); },
              "the images");
  }
  etcd_->Kill(0);
  KeepingServer c(options, kLittle);
  EXPECT_TRUE(c.found.cached_at.has_value());
  EXPECT_GT(c.found.unloaded, 0U);
  for (int i = 0; i < maps; ++i) {
    const std::string id = absl::StrCat("m", i);
    c.ExpectAsIn(a, id, 2);
  }
  EXPECT_GT(c.keeper.GetStatistics().evictions, 0U);
}

TEST_F(UnloadedMapsTest, AServerNeedsNoRoomForAllMapsOfTheFleet) {
  FleetServer a(*etcd_);
  int maps = CreateMany(a);
  KeepingServer b(*etcd_, kLittle);
  EXPECT_GT(b.found.unloaded, 0U);
  EXPECT_EQ(b.found.maps + b.found.unloaded, static_cast<std::size_t>(maps));
  for (int i = 0; i < 4; ++i) {
    ASSERT_THAT(Create(a, maps++), IsOk());
  }
  for (int i = 0; i < maps; ++i) {
    const std::string id = absl::StrCat("m", i);
    ASSERT_THAT(a.Update(id, i % 1024), IsOk());
    b.ExpectAsIn(a, id, 2);
  }
  EXPECT_LE(b.store.MeasureMemory().total(), kLittle);
  EXPECT_GT(b.keeper.GetStatistics().evictions, 0U);
}

}  // namespace
}  // namespace waystar::cluster
