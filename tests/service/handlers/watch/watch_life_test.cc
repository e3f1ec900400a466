// How watches of maps and of the paths of agents end, and what they may cost others.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/errors.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/caller.h"
#include "server/service/convert/convert_query.h"
#include "server/service/handlers/watch/map_watch.h"
#include "server/service/handlers/watch/path_watch.h"
#include "tests/service/auth/guarded_server.h"
#include "tests/service/handlers/watch/watches.h"
#include "tests/service/test_server.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;

v1::FindPathRequest QueryIn(const std::string& map) { return PathRequest(map, CellAt(0, 0), CellAt(3, 0)); }

class WatchLifeTest : public WatchedRoomTest {};

TEST_F(WatchLifeTest, EndsWhenTheMapIsDeleted) {
  server_.Create("other", {"."});
  WatchOfMap watch(server_, WatchRequest("room"));
  WatchOfMap other(server_, WatchRequest("other"));
  FollowedPath path(server_, QueryIn("room"));
  EXPECT_EQ(watch.Next(), "watching 1");
  EXPECT_EQ(other.Next(), "watching 1");
  path.Next();
  Delete("room");
  server_.Create("room", {"....", "...."});
  const absl::Status status = watch.End();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_EQ(client::ReasonOf(status), "MAP_NOT_FOUND");
  EXPECT_EQ(client::ReasonOf(path.End()), "MAP_NOT_FOUND");
  // The new map and the other one are not meant.
  WatchOfMap again(server_, WatchRequest("room"));
  EXPECT_EQ(again.Next(), "watching 1");
  EXPECT_EQ(FollowedPath(server_, QueryIn("room")).Next().answer().cost(), 3.0);
  EXPECT_EQ(Change(), 2U);
  EXPECT_EQ(again.Next(), "revision 2");
}

// The new map's revisions are smaller than those that the old one had.
TEST_F(WatchLifeTest, EndsWithTheMapThatItBeganOn) {
  for (int i = 0; i < 3; ++i) {
    Change();
  }
  for (int i = 0; i < 20; ++i) {
    WatchOfMap old(server_, WatchRequest("room"));
    FollowedPath old_path(server_, QueryIn("room"));
    const v1::Version before = old.NextEvent().watching().version();
    EXPECT_EQ(old_path.Next().version().epoch(), before.epoch());
    Replace();
    WatchOfMap watch(server_, WatchRequest("room"));
    FollowedPath path(server_, QueryIn("room"));
    const v1::Version after = watch.NextEvent().watching().version();
    EXPECT_EQ(after.revision(), 1U);
    EXPECT_NE(after.epoch(), before.epoch());
    EXPECT_EQ(path.Next().version().epoch(), after.epoch());
    EXPECT_EQ(client::ReasonOf(old.End()), "MAP_NOT_FOUND");
    EXPECT_EQ(client::ReasonOf(old_path.End()), "MAP_NOT_FOUND");
    Update(server_, BlockRequest("room", {CellAt(1, 0)}));
    EXPECT_EQ(watch.Next(), "revision 2");
    const v1::AgentState next = path.Next();
    EXPECT_EQ(next.version().revision(), 2U);
    EXPECT_EQ(next.version().epoch(), after.epoch());
    Update(server_, UnblockRequest("room", {CellAt(1, 0)}));
  }
}

TEST(WatchLimitTest, OneTooManyIsRefusedUntilAnotherEnds) {
  TestServer server({.max_watches = 1});
  server.Create("room", {"...."});
  {
    WatchOfMap first(server, WatchRequest("room"));
    first.NextEvent();
    const absl::Status refused = WatchOfMap(server, WatchRequest("room")).End();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
    EXPECT_EQ(client::ReasonOf(refused), "TOO_MANY_WATCHES");
    first->Cancel();
    EXPECT_EQ(first.End().code(), absl::StatusCode::kCancelled);
  }
  absl::Status status;
  // The server may not have heard of the end of the first yet.
  const auto has_ended = [&] {
    status = WatchOfMap(server, WatchRequest("room")).FirstOrEnd();
    return client::ReasonOf(status) != "TOO_MANY_WATCHES";
  };
  EXPECT_TRUE(WaitUntil(has_ended, "the end of the first watch"));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(WatchLimitTest, OneClientLeavesOthersSome) {
  GuardedServer server(
      TokenLine("greedy", "read:*") + TokenLine("modest", "read:*") + TokenLine("shy", "read:*"),
      {.max_watches = 8});
  server.Create("room", {"."});
  // Connections of their own do not help.
  const auto watch = [&](const std::string& token) {
    return std::make_unique<WatchOfMap>(server.server(), WatchRequest("room"), token);
  };
  std::vector<std::unique_ptr<WatchOfMap>> greedy;
  for (int i = 0; i < 6; ++i) {
    greedy.push_back(watch("greedy"));
    EXPECT_EQ(greedy.back()->Next(), "watching 1");
  }
  const absl::Status refused = watch("greedy")->End();
  EXPECT_EQ(client::ReasonOf(refused), "TOO_MANY_WATCHES");
  EXPECT_THAT(refused.message(), ::testing::HasSubstr("this client has its share"));
  const auto other = watch("modest");
  EXPECT_EQ(other->Next(), "watching 1");
  const auto third = watch("shy");
  EXPECT_EQ(third->Next(), "watching 1");
}

// So that cancelling meets the beginning, reading of history and writing.
TEST_F(WatchLifeTest, ClientsMayGiveUpAtAnyTime) {
  std::thread writer([this] {
    while (Change() < 400) {
    }
  });
  for (int i = 0; i < 200; ++i) {
    WatchOfMap watch(server_, i % 2 == 0 ? WatchRequest("room", /*with_edits=*/true)
                                         : WatchFrom(server_, "room", 2, /*with_edits=*/true));
    std::thread canceller([&] { watch->Cancel(); });
    const absl::Status status = watch.EndAfterEvents();
    canceller.join();
    EXPECT_TRUE(status.code() == absl::StatusCode::kCancelled ||
                client::ReasonOf(status) == "FUTURE_REVISION")
        << status;
  }
  writer.join();
}

TEST_F(WatchLifeTest, StopEndsWatchesAtOnce) {
  WatchOfMap idle(server_, WatchRequest("room"));
  WatchOfMap busy(server_, WatchRequest("room", /*with_edits=*/true));
  FollowedPath path(server_, QueryIn("room"));
  path.Next();
  EXPECT_EQ(idle.Next(), "watching 1");
  EXPECT_EQ(busy.Next(), "watching 1");
  for (int i = 0; i < 50; ++i) {
    Change();
  }
  std::thread stop([&] { server_.server().Stop(kPatience, kPatience); });
  for (WatchOfMap* watch : {&idle, &busy}) {
    const absl::Status status = watch->EndAfterEvents();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_EQ(client::ReasonOf(status), "DRAINING");
  }
  EXPECT_EQ(client::ReasonOf(path.End()), "DRAINING");
  stop.join();
}

// A watch holds neither the one worker nor the one transfer.
TEST(WatchLimitTest, WatchesHoldUpNobody) {
  TestServer server({.workers = 1, .max_transfers = 1});
  server.Create("room", {"."});
  std::vector<std::unique_ptr<WatchOfMap>> watches;
  for (int i = 0; i < 100; ++i) {
    watches.push_back(std::make_unique<WatchOfMap>(server, WatchRequest("room")));
    EXPECT_EQ(watches.back()->Next(), "watching 1");
  }
  auto request = About<v1::ExportMapRequest>("room");
  EXPECT_TRUE(server.client().ExportMap(request).ok());
}

// Watches whose clients do not read: they cost little, miss nothing that matters, and hold up nobody.

constexpr int kChanges = 40;
constexpr std::uint64_t kLastRevision = kChanges + 1;
// What the transport holds, what is being written, and what is to be written next; and as many to spare.
constexpr int kMostMessages = 8;

TEST(UnreadPathWatchTest, OnlyTheLatestAnswerIsKeptForIt) {
  TestServer server;
  // So long that an answer takes nearly all of what the transport holds for a client that does not read.
  server.CreateBlank("long", 8000, 3);
  const v1::FindPathRequest query = PathRequest("long", CellAt(0, 1), CellAt(7999, 1));
  FollowedPath unread(server.NewNarrowChannel(), query);
  FollowedPath read(server, query);
  EXPECT_EQ(unread.Next().version().revision(), 1U);
  EXPECT_EQ(read.Next().version().revision(), 1U);
  // Each change is one of the answer, and made when those who read have been told of the one before.
  for (std::uint64_t revision = 2; revision <= kLastRevision; ++revision) {
    Update(server, revision % 2 == 0 ? BlockRequest("long", {CellAt(4000, 1)})
                                     : UnblockRequest("long", {CellAt(4000, 1)}));
    EXPECT_EQ(read.Next().version().revision(), revision);
  }
  int messages = 1;
  while (unread.Next().version().revision() < kLastRevision && !HasFailure()) {
    ++messages;
  }
  EXPECT_LT(messages, kMostMessages);
}

TEST(UnreadMapWatchTest, StopDoesNotWaitForIt) {
  TestServer server;
  server.Create("room", {"....", "...."});
  WatchOfMap unread(server.NewNarrowChannel(), WatchRequest("room", /*with_edits=*/true));
  WatchOfMap read(server, WatchRequest("room"));
  EXPECT_EQ(unread.Next(), "watching 1");
  EXPECT_EQ(read.Next(), "watching 1");
  for (int i = 0; i < kChanges; ++i) {
    ASSERT_TRUE(server.client().UpdateMap(LargeBatch()).ok());
    read.NextEvent();
  }
  ExpectReturns([&] { server.server().Stop(absl::Hours(1), absl::ZeroDuration()); }, "Stop");
  EXPECT_LT(unread.EventsToEnd(), kMostMessages);
  EXPECT_FALSE(unread->Finish().ok());
}

// What watches hear of maps that have ended, however late, while others have their ids.

core::PinnedSnapshot SnapshotOf(core::MapVersion version) {
  return std::make_shared<const core::MapSnapshot>(core::MapSnapshot{
      .id = "arena", .epoch = version.epoch, .revision = version.revision, .map = DrawMap({"."})});
}

// Is busy with the first news until it may go on.
class BusyWatcher final : public MapWatcher {
 public:
  void OnNews() override {
    is_busy.Happen();
    may_go_on.Wait();
  }
  void OnDelete(std::uint64_t epoch) override {
    MutexLock lock(mutex_);
    ended_.push_back(epoch);
  }

  std::vector<std::uint64_t> ended() {
    MutexLock lock(mutex_);
    return ended_;
  }

  Event is_busy{"the first news"};
  Event may_go_on{"the watcher to go on"};

 private:
  Mutex mutex_;
  std::vector<std::uint64_t> ended_ ABSL_GUARDED_BY(mutex_);
};

TEST(MapWatchesTest, TellOfEachMapThatHasEnded) {
  const auto watcher = std::make_shared<BusyWatcher>();
  MapWatches watches;
  watches.Add("arena", watcher);
  watches.OnCommit(SnapshotOf({.epoch = 7, .revision = 9}), {}, {});
  ASSERT_TRUE(watcher->is_busy.Wait());
  watches.OnDelete(SnapshotOf({.epoch = 7, .revision = 9}));
  watches.OnDelete(SnapshotOf({.epoch = 3, .revision = 1}));
  watches.OnDelete(SnapshotOf({.epoch = 5, .revision = 2}));
  watcher->may_go_on.Happen();
  EXPECT_TRUE(WaitUntil([&] { return watcher->ended().size() >= 3; }, "the ends of three maps"));
  EXPECT_THAT(watcher->ended(), ElementsAre(7, 3, 5));
}

class HeldWatch final : public PathWatch {
 public:
  void Send(v1::AgentState state, std::size_t /*kept_bytes*/) override {
    MutexLock lock(mutex_);
    states_.push_back(std::move(state));
  }
  void End(const absl::Status& status) override {
    MutexLock lock(mutex_);
    if (end_.ok()) {
      end_ = status;
    }
  }
  Caller GetCaller() override { return Caller::Anyone(); }
  void FillName(v1::FollowedAgent& /*out*/) const override {}

  // What was sent.
  std::vector<v1::AgentState> states() {
    MutexLock lock(mutex_);
    return states_;
  }
  // OK as long as it has not ended.
  absl::Status end() {
    MutexLock lock(mutex_);
    return end_;
  }

 private:
  Mutex mutex_;
  std::vector<v1::AgentState> states_ ABSL_GUARDED_BY(mutex_);
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

// A scheduler that hears of commits, but of ends of maps only when it is told.
class PathWatchSchedulerTest : public ::testing::Test, public core::StoreListener {
 protected:
  PathWatchSchedulerTest() { store_.AddListener(this); }
  ~PathWatchSchedulerTest() override {
    executor_.reset();
    for (const std::shared_ptr<HeldWatch>& watch : watches_) {
      scheduler_.Remove(*watch);
    }
  }

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& changes) override {
    scheduler_.OnCommit(snapshot, commits, changes);
  }
  void OnDelete(const core::PinnedSnapshot& last) override { ended_.push_back(last); }

  std::shared_ptr<HeldWatch> Watch() {
    auto watch = std::make_shared<HeldWatch>();
    watch->request = PathRequest("arena", CellAt(0, 0), CellAt(3, 0));
    watch->query = *ToRouteQuery(watch->request, watch->request.map(), HexCoordinates());
    watches_.push_back(watch);
    scheduler_.Begin(watch);
    EXPECT_TRUE(WaitUntil([&] { return !watch->states().empty(); }, "the first answer"));
    return watch;
  }

  core::MapStore store_{1};
  // It ends before what its threads use.
  std::optional<Executor> executor_{std::in_place, ExecutorOptions{.workers = 1}};
  PathWatchScheduler scheduler_{store_, *executor_, std::size_t{1} << 20, {}};
  std::vector<std::shared_ptr<HeldWatch>> watches_;
  std::vector<core::PinnedSnapshot> ended_;
};

TEST_F(PathWatchSchedulerTest, OnlyWatchesOfTheMapThatHasEndedEnd) {
  const std::vector<std::string> rows = {"....", "...."};
  ASSERT_THAT(store_.Create("arena", DrawMap(rows), absl::UnixEpoch()), IsOk());
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({0, 1})), IsOk());
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({3, 1})), IsOk());
  const auto old = Watch();
  ASSERT_EQ(old->states().size(), 1U);
  EXPECT_EQ(old->states()[0].version().revision(), 3U);

  const auto replaced = store_.Replace("arena", DrawMap(rows), absl::UnixEpoch()).value();
  const auto watch = Watch();
  ASSERT_EQ(watch->states().size(), 1U);
  EXPECT_EQ(watch->states()[0].version().epoch(), replaced->epoch);
  EXPECT_EQ(watch->states()[0].version().revision(), 1U);
  EXPECT_THAT(old->end(), IsOk());

  ASSERT_EQ(ended_.size(), 1U);
  scheduler_.OnDelete(ended_[0]);
  EXPECT_EQ(ErrorReasonOf(old->end()), ErrorReasonName(ErrorReason::kMapNotFound));
  EXPECT_THAT(watch->end(), IsOk());
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  EXPECT_TRUE(WaitUntil([&] { return watch->states().size() == 2; }, "the next answer"));
  EXPECT_EQ(watch->states()[1].version().revision(), 2U);
  EXPECT_EQ(old->states().size(), 1U);
  EXPECT_THAT(watch->end(), IsOk());

  ASSERT_THAT(store_.Delete("arena"), IsOk());
  scheduler_.OnDelete(ended_.back());
  EXPECT_EQ(ErrorReasonOf(watch->end()), ErrorReasonName(ErrorReason::kMapNotFound));
}

}  // namespace
}  // namespace waystar::rpc
