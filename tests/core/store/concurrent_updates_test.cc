// Many threads at work on a map, without a log and with one that loses appends, for the thread sanitizer as
// much as for the assertions.

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/core/store/held_log.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

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

void JoinAll(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) {
    thread.join();
  }
}

class ConcurrentUpdatesTest : public ::testing::TestWithParam<bool> {
 protected:
  ConcurrentUpdatesTest() {
    store_.AddListener(&listener_);
    if (has_log_) {
      store_.SetLog(&log_);
    }
  }

  // Expects that a batch was applied, or refused for a loss, a full queue or one more reason.
  static void ExpectAnswer(const absl::Status& status, ErrorReason other) {
    EXPECT_TRUE(status.ok() || IsReason(status, ErrorReason::kStorageFailed) ||
                IsReason(status, ErrorReason::kUpdatesBusy) || IsReason(status, other))
        << status;
  }

  const bool has_log_ = GetParam();
  FakeClock clock_;
  RecordingListener listener_;
  HeldLog log_;
  MapStore store_{
      StoreOptions{.max_maps = 1, .max_waiting_batches = 8, .max_fold_batches = 3, .clock = &clock_}};

 private:
  static bool IsReason(const absl::Status& status, ErrorReason reason) {
    return ErrorReasonOf(status) == ErrorReasonName(reason);
  }
};

// Each batch blocks a cell of its own and is sent until it is applied. The first writer compares and sets.
TEST_P(ConcurrentUpdatesTest, SnapshotsHoldExactlyTheBatchesUpToTheirRevision) {
  constexpr int kWriters = 4;
  constexpr int kBatchesEach = 100;
  constexpr std::uint64_t kLast = kWriters * kBatchesEach + 1;
  std::map<std::uint64_t, Cell> cell_of;
  {
    std::optional<LogThread> log_thread;
    if (has_log_) {
      log_thread.emplace(log_, 0.1);
    }
    const GridMap blank = DrawMap(std::vector<std::string>(kWriters, std::string(kBatchesEach, '.')));
    while (!store_.Create("arena", blank, absl::UnixEpoch()).ok()) {
    }
    std::atomic<bool> is_over = false;
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 2; ++reader) {
      readers.emplace_back([&] {
        std::uint64_t last = 0;
        while (!is_over) {
          const PinnedSnapshot pinned = *store_.Pin("arena");
          ASSERT_GE(pinned->revision, last);
          last = pinned->revision;
          ASSERT_EQ(pinned->grid().obstacle_cells(), static_cast<std::int64_t>(pinned->revision) - 1);
          ASSERT_TRUE(!has_log_ || log_.DurableVersion("arena").revision >= pinned->revision);
        }
      });
    }
    Mutex mutex;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < kBatchesEach; ++i) {
          UpdateBatch batch{.edits = {Block({i, writer})}, .request_id = absl::StrCat(writer, "-", i)};
          absl::StatusOr<UpdateResult> result = absl::UnknownError("");
          bool is_applied = false;
          // The twin sends the same batch. At most one of the two is applied.
          while (!result.ok()) {
            if (writer == 0 && !is_applied) {
              batch.expected.revision = (*store_.Pin("arena"))->revision;
            }
            std::atomic<bool> is_answered = false;
            absl::StatusOr<UpdateResult> first = absl::UnknownError("");
            store_.Update("arena", batch, [&](absl::StatusOr<UpdateResult> answer) {
              first = std::move(answer);
              is_answered = true;
            });
            result = store_.UpdateAndWait("arena", batch);
            WaitUntil([&] { return is_answered.load(); }, "the first answer");
            is_applied = is_applied || first.ok();
            if (first.ok() && result.ok()) {
              EXPECT_EQ(first->revision, result->revision);
              EXPECT_TRUE(result->already_applied);
            }
            if (result.ok() && batch.expected.revision) {
              EXPECT_EQ(result->revision, *batch.expected.revision + 1);
            }
            const ErrorReason other = writer == 0 ? ErrorReason::kStaleRevision : ErrorReason::kStorageFailed;
            ExpectAnswer(first.status(), other);
            ExpectAnswer(result.status(), other);
          }
          // Published before it is answered.
          EXPECT_GE((*store_.Pin("arena"))->revision, result->revision);
          MutexLock lock(mutex);
          EXPECT_TRUE(cell_of.emplace(result->revision, Cell{i, writer}).second);
        }
      });
    }
    JoinAll(writers);
    is_over = true;
    JoinAll(readers);
  }
  ASSERT_EQ(cell_of.size(), kLast - 1);
  const History history = *store_.ReadHistory("arena", 2, kLast);
  ASSERT_EQ(history.commits.size(), kLast - 1);
  for (const CommitPtr& commit : history.commits) {
    EXPECT_EQ(commit->edits, std::vector<Edit>{Block(cell_of.at(commit->revision))});
  }
  std::vector<CommitPtr> durable;
  for (const LogEntry& entry : log_.durable()) {
    for (const LoggedCommit& logged : entry.commits) {
      durable.push_back(logged.commit);
    }
  }
  EXPECT_EQ(durable, has_log_ ? history.commits : std::vector<CommitPtr>());
  std::uint64_t revision = 1;
  for (const RecordingListener::Heard& heard : listener_.heard()) {
    for (const std::uint64_t commit : heard.commits) {
      ASSERT_EQ(commit, ++revision);
    }
    ASSERT_EQ(heard.revision, revision);
  }
  EXPECT_EQ(revision, kLast);
}

// A map comes and goes, images are made and, with a log, obstacles expire: every batch is answered, and what
// listeners hear is what was applied, in its order.
TEST_P(ConcurrentUpdatesTest, MapsComeAndGo) {
  constexpr int kRounds = 50;
  std::atomic<bool> is_over = false;
  std::atomic<int> sent = 0;
  std::atomic<int> answered = 0;
  std::atomic<std::uint64_t> applied = 0;
  {
    std::optional<LogThread> log_thread;
    if (has_log_) {
      log_thread.emplace(log_, 0.05);
    }
    std::vector<std::thread> threads;
    for (int writer = 0; writer < 2; ++writer) {
      threads.emplace_back([&] {
        for (int i = 0; !is_over; ++i) {
          ++sent;
          PutObstacle put{.obstacle = {.id = absl::StrCat(i % 5), .shape = {.cells = {{i % 3, 0}}}},
                          .replace = true};
          if (has_log_) {
            put.lifetime = absl::Milliseconds(i % 7 + 1);
          }
          store_.Update("arena", {.edits = {std::move(put)}},
                        [&](const absl::StatusOr<UpdateResult>& result) {
                          applied += result.ok() ? 1U : 0U;
                          ExpectAnswer(result.status(), ErrorReason::kMapNotFound);
                          ++answered;
                        });
        }
      });
    }
    threads.emplace_back([&] {
      while (!is_over) {
        clock_.Advance(absl::Milliseconds(1));
        store_.ExpireDue(clock_.Now());
        if (const absl::StatusOr<StoredMap> stored = store_.Store("arena"); stored.ok() && has_log_) {
          // Unless it has ended meanwhile.
          if (const MapVersion durable = log_.DurableVersion("arena");
              durable.epoch == stored->snapshot->epoch) {
            EXPECT_GE(durable.revision, stored->snapshot->revision);
          }
        }
      }
    });
    for (int i = 0; i < kRounds; ++i) {
      while (!store_.Create("arena", DrawMap({"..."}), clock_.Now()).ok()) {
      }
      while (!store_.Delete("arena").ok()) {
      }
    }
    is_over = true;
    JoinAll(threads);
  }
  EXPECT_EQ(answered, sent);
  std::vector<std::string> heard;
  std::uint64_t commits = 0;
  int deletions = 0;
  std::uint64_t revision = 1;
  for (const RecordingListener::Heard& change : listener_.heard()) {
    heard.push_back(absl::StrCat(change.revision, change.is_deletion ? " is the last" : ""));
    commits += change.commits.size();
    deletions += change.is_deletion ? 1 : 0;
    // A deletion tells of the last revision; the next map begins at 1 again.
    EXPECT_EQ(change.revision, revision + change.commits.size());
    revision = change.is_deletion ? 1 : change.revision;
  }
  EXPECT_EQ(deletions, kRounds);
  if (!has_log_) {
    EXPECT_EQ(applied, commits);
    return;
  }
  std::vector<std::string> durable;
  std::uint64_t puts = 0;
  for (const LogEntry& entry : log_.durable()) {
    if (entry.kind != LogEntry::Kind::kCreation) {
      durable.push_back(absl::StrCat(entry.version.revision,
                                     entry.kind == LogEntry::Kind::kDeletion ? " is the last" : ""));
    }
    for (const LoggedCommit& logged : entry.commits) {
      puts += std::holds_alternative<PutObstacle>(logged.commit->edits[0]) ? 1 : 0;
    }
  }
  EXPECT_EQ(heard, durable);
  EXPECT_EQ(applied, puts);
}

INSTANTIATE_TEST_SUITE_P(Logs, ConcurrentUpdatesTest, ::testing::Bool(),
                         [](const auto& has_log) { return has_log.param ? "LossyLog" : "NoLog"; });

}  // namespace
}  // namespace waystar::core
