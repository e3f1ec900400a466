// Many threads at work on a map with a durable log that loses appends, for the thread sanitizer as much as
// for the assertions.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/core/store/held_log.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FakeClock;
using ::waystar::testing::Random;
using ::waystar::testing::RecordingListener;
using ::waystar::testing::WaitUntil;

// Lets appends land, or not, as they come.
class LogThread {
 public:
  LogThread(HeldLog& log, double losses) : thread_([this, &log, losses] { Run(log, losses); }) {}
  LogThread(const LogThread&) = delete;
  LogThread& operator=(const LogThread&) = delete;
  ~LogThread() {
    is_over_ = true;
    thread_.join();
  }

 private:
  void Run(HeldLog& log, double losses) {
    Random random(1);
    while (!is_over_ || log.waiting() > 0) {
      if (log.waiting() == 0) {
        std::this_thread::yield();
      } else if (random.Chance(losses)) {
        log.FailNext();
      } else {
        log.LandNext();
      }
    }
  }

  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

bool IsReason(const absl::Status& status, ErrorReason reason) {
  return ErrorReasonOf(status) == ErrorReasonName(reason);
}

// Each batch blocks a cell of its own and is sent until it is applied.
TEST(ConcurrentLogTest, SnapshotsHoldExactlyTheDurableBatches) {
  constexpr int kWriterThreads = 3;
  constexpr int kBatchesEach = 100;
  HeldLog log;
  MapStore store({.max_waiting_batches = 8, .max_fold_batches = 3});
  RecordingListener listener;
  store.AddListener(&listener);
  store.SetLog(&log);
  std::map<std::uint64_t, Cell> cell_of;
  {
    LogThread log_thread(log, 0.1);
    while (!store
                .Create("arena",
                        DrawMap(std::vector<std::string>(kWriterThreads, std::string(kBatchesEach, '.'))),
                        absl::UnixEpoch())
                .ok()) {
    }
    std::atomic<bool> is_over = false;
    std::thread reader([&] {
      std::uint64_t last = 0;
      while (!is_over) {
        const PinnedSnapshot pinned = *store.Pin("arena");
        ASSERT_GE(pinned->revision, last);
        last = pinned->revision;
        ASSERT_EQ(pinned->grid().obstacle_cells(), static_cast<std::int64_t>(pinned->revision) - 1);
        ASSERT_GE(log.DurableVersion("arena").revision, pinned->revision);
      }
    });
    Mutex mutex;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriterThreads; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < kBatchesEach; ++i) {
          const UpdateBatch batch{.edits = {Block({i, writer})}, .request_id = absl::StrCat(writer, "-", i)};
          absl::StatusOr<UpdateResult> result = absl::UnknownError("");
          // Of the two that are sent together, one is applied, or none.
          while (!result.ok()) {
            std::atomic<bool> is_answered = false;
            absl::StatusOr<UpdateResult> first = absl::UnknownError("");
            store.Update("arena", batch, [&](absl::StatusOr<UpdateResult> answer) {
              first = std::move(answer);
              is_answered = true;
            });
            result = store.UpdateAndWait("arena", batch);
            WaitUntil([&] { return is_answered.load(); }, "the first answer");
            if (first.ok() && result.ok()) {
              EXPECT_EQ(first->revision, result->revision);
              EXPECT_TRUE(result->already_applied);
            }
            for (const absl::Status& status : {first.status(), result.status()}) {
              EXPECT_TRUE(status.ok() || IsReason(status, ErrorReason::kStorageFailed) ||
                          IsReason(status, ErrorReason::kUpdatesBusy))
                  << status;
            }
          }
          EXPECT_GE((*store.Pin("arena"))->revision, result->revision);
          MutexLock lock(mutex);
          EXPECT_TRUE(cell_of.emplace(result->revision, Cell{i, writer}).second);
        }
      });
    }
    for (std::thread& writer : writers) {
      writer.join();
    }
    is_over = true;
    reader.join();
  }
  ASSERT_EQ(cell_of.size(), static_cast<std::size_t>(kWriterThreads * kBatchesEach));
  std::uint64_t revision = 1;
  for (const HeldLog::Entry& entry : log.durable()) {
    for (const LoggedCommit& logged : entry.commits) {
      ASSERT_EQ(logged.commit->revision, ++revision);
      EXPECT_EQ(logged.commit->edits, std::vector<Edit>{Block(cell_of.at(revision))});
    }
  }
  EXPECT_EQ(revision, kWriterThreads * kBatchesEach + 1U);
  EXPECT_EQ(listener.heard().back().revision, revision);
}

// A map comes and goes, obstacles expire, images are made: every batch is answered, and what is told is what
// is durable, in its order.
TEST(ConcurrentLogTest, MapsComeAndGo) {
  FakeClock clock;
  HeldLog log;
  MapStore store({.max_maps = 1, .max_waiting_batches = 20, .clock = &clock});
  RecordingListener listener;
  store.AddListener(&listener);
  store.SetLog(&log);
  std::atomic<bool> is_over = false;
  std::atomic<int> sent = 0;
  std::atomic<int> answered = 0;
  std::atomic<std::uint64_t> applied = 0;
  {
    LogThread log_thread(log, 0.05);
    std::vector<std::thread> threads;
    for (int writer = 0; writer < 2; ++writer) {
      threads.emplace_back([&] {
        for (int i = 0; !is_over; ++i) {
          ++sent;
          store.Update("arena",
                       {.edits = {PutObstacle{
                            .obstacle = {.id = absl::StrCat(i % 5), .shape = {.cells = {{i % 3, 0}}}},
                            .lifetime = absl::Milliseconds(i % 7 + 1),
                            .replace = true}}},
                       [&](const absl::StatusOr<UpdateResult>& result) {
                         if (result.ok()) {
                           ++applied;
                         } else {
                           EXPECT_TRUE(IsReason(result.status(), ErrorReason::kStorageFailed) ||
                                       IsReason(result.status(), ErrorReason::kUpdatesBusy) ||
                                       IsReason(result.status(), ErrorReason::kMapNotFound))
                               << result.status();
                         }
                         ++answered;
                       });
        }
      });
    }
    threads.emplace_back([&] {
      while (!is_over) {
        clock.Advance(absl::Milliseconds(1));
        store.ExpireDue(clock.Now());
        if (const absl::StatusOr<StoredMap> stored = store.Store("arena"); stored.ok()) {
          // Unless it has ended meanwhile.
          if (const MapVersion durable = log.DurableVersion("arena");
              durable.epoch == stored->snapshot->epoch) {
            EXPECT_GE(durable.revision, stored->snapshot->revision);
          }
        }
      }
    });
    for (int i = 0; i < 40; ++i) {
      while (!store.Create("arena", DrawMap({"..."}), clock.Now()).ok()) {
      }
      while (!store.Delete("arena").ok()) {
      }
    }
    is_over = true;
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  EXPECT_EQ(answered, sent);
  std::vector<std::string> heard;
  for (const RecordingListener::Heard& change : listener.heard()) {
    heard.push_back(absl::StrCat(change.revision, change.is_deletion ? " is the last" : ""));
  }
  std::vector<std::string> durable;
  std::uint64_t puts = 0;
  for (const HeldLog::Entry& entry : log.durable()) {
    if (entry.kind != HeldLog::Kind::kCreation) {
      durable.push_back(
          absl::StrCat(entry.version.revision, entry.kind == HeldLog::Kind::kDeletion ? " is the last" : ""));
    }
    for (const LoggedCommit& logged : entry.commits) {
      puts += std::holds_alternative<PutObstacle>(logged.commit->edits[0]) ? 1 : 0;
    }
  }
  EXPECT_EQ(heard, durable);
  EXPECT_EQ(applied, puts);
}

}  // namespace
}  // namespace waystar::core
