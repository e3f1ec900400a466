// What watches hear of maps that have ended, however late, while others have their ids.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/caller.h"
#include "server/service/convert/convert_query.h"
#include "server/service/handlers/watch/map_watch.h"
#include "server/service/handlers/watch/path_watch.h"
#include "tests/service/test_server.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::rpc {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::CellAt;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Event;
using ::waystar::testing::IsOk;
using ::waystar::testing::PathRequest;
using ::waystar::testing::WaitUntil;

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
  void Send(const v1::WatchPathResponse& message) override {
    MutexLock lock(mutex_);
    messages_.push_back(message);
  }
  void End(const absl::Status& status) override {
    MutexLock lock(mutex_);
    if (end_.ok()) {
      end_ = status;
    }
  }
  Caller GetCaller() override { return Caller::Anyone(); }

  // What was sent.
  std::vector<v1::WatchPathResponse> messages() {
    MutexLock lock(mutex_);
    return messages_;
  }
  // OK as long as it has not ended.
  absl::Status end() {
    MutexLock lock(mutex_);
    return end_;
  }

 private:
  Mutex mutex_;
  std::vector<v1::WatchPathResponse> messages_ ABSL_GUARDED_BY(mutex_);
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

// A scheduler that hears of commits, but of ends of maps only when it is told.
class PathWatchSchedulerTest : public ::testing::Test, public core::StoreListener {
 protected:
  class Beginning final : public Executor::Job {
   public:
    Beginning(PathWatchScheduler& scheduler, PathWatchPtr watch)
        : scheduler_(scheduler), watch_(std::move(watch)) {}
    void Run(int worker) override {
      scheduler_.Begin(watch_, worker);
      has_run.Happen();
    }
    void Refuse(const absl::Status& /*status*/) override {}

    Event has_run{"the first answer"};

   private:
    PathWatchScheduler& scheduler_;
    const PathWatchPtr watch_;
  };

  PathWatchSchedulerTest() { store_.AddListener(this); }
  ~PathWatchSchedulerTest() override {
    executor_.reset();
    for (const std::shared_ptr<HeldWatch>& watch : watches_) {
      scheduler_.Remove(*watch);
    }
  }

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
                const core::MapChanges& changes) override {
    scheduler_.OnCommit(snapshot, commits, changes);
  }
  void OnDelete(const core::PinnedSnapshot& last) override { ended_.push_back(last); }

  std::shared_ptr<HeldWatch> Watch() {
    auto watch = std::make_shared<HeldWatch>();
    watch->request = PathRequest("arena", CellAt(0, 0), CellAt(3, 0));
    watch->query = *ToRouteQuery(watch->request, watch->request.map(), HexCoordinates());
    watch->deadline = PathWatch::Clock::time_point::max();
    watches_.push_back(watch);
    Beginning& beginning = *beginnings_.emplace_back(std::make_unique<Beginning>(scheduler_, watch));
    executor_->SubmitOwn(Lane::kLarge, &beginning);
    EXPECT_TRUE(beginning.has_run.Wait());
    return watch;
  }

  core::MapStore store_{1};
  std::vector<std::unique_ptr<Beginning>> beginnings_;
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
  ASSERT_EQ(old->messages().size(), 1U);
  EXPECT_EQ(old->messages()[0].info().version().revision(), 3U);

  const auto replaced = store_.Replace("arena", DrawMap(rows), absl::UnixEpoch());
  ASSERT_THAT(replaced, IsOk());
  const auto watch = Watch();
  ASSERT_EQ(watch->messages().size(), 1U);
  EXPECT_EQ(watch->messages()[0].info().version().epoch(), (*replaced)->epoch);
  EXPECT_EQ(watch->messages()[0].info().version().revision(), 1U);
  EXPECT_THAT(old->end(), IsOk());

  ASSERT_EQ(ended_.size(), 1U);
  scheduler_.OnDelete(ended_[0]);
  EXPECT_EQ(ErrorReasonOf(old->end()), ErrorReasonName(ErrorReason::kMapNotFound));
  EXPECT_THAT(watch->end(), IsOk());
  ASSERT_THAT(store_.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  EXPECT_TRUE(WaitUntil([&] { return watch->messages().size() == 2; }, "the next answer"));
  EXPECT_EQ(watch->messages()[1].info().version().revision(), 2U);
  EXPECT_EQ(old->messages().size(), 1U);
  EXPECT_THAT(watch->end(), IsOk());

  ASSERT_THAT(store_.Delete("arena"), IsOk());
  scheduler_.OnDelete(ended_.back());
  EXPECT_EQ(ErrorReasonOf(watch->end()), ErrorReasonName(ErrorReason::kMapNotFound));
}

}  // namespace
}  // namespace waystar::rpc
