// Maps that others begin are loaded beside all that goes on.

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "tests/storage/fleet/fleet_server.h"

namespace waystar::cluster {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using waystar::testing::DrawMap;
using waystar::testing::IsOk;
using waystar::testing::WaitUntil;

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
  for (int x = 0; x < 5; ++x) {
    ASSERT_THAT(a.Update("arena", x), IsOk());
  }
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
  EXPECT_THAT(b.Heard(), ElementsAre(2, 0, 2, 0, 2));
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
  for (int x = 0; x < 10; ++x) {
    ASSERT_THAT(a.Update("arena", x), IsOk());
  }
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
      edits.push_back(testing::Block({x, y}));
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

}  // namespace
}  // namespace waystar::cluster
