// Many threads at work on one map, for the thread sanitizer as much as for the assertions.

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::waystar::testing::Block;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::Patience;
using ::waystar::testing::RecordingListener;

constexpr int kWriters = 4;
constexpr int kBatches = 128;

// The one cell that the `i`th batch of a writer blocks.
Cell CellOf(int writer, int i) { return {i, writer}; }

void JoinAll(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Each batch blocks a cell of its own; half of the writers do not wait for answers. A snapshot of revision r
// holds the cells of the batches up to r and no other.
TEST(ConcurrentUpdatesTest, SnapshotsHoldExactlyTheBatchesUpToTheirRevision) {
  MapStore store({.max_fold_batches = 5});
  RecordingListener listener;
  store.AddListener(&listener);
  ASSERT_THAT(store.Create("arena", DrawMap(std::vector<std::string>(kWriters, std::string(kBatches, '.'))),
                           absl::UnixEpoch()),
              IsOk());
  Mutex mutex;
  CondVar is_answered;
  std::map<std::uint64_t, Cell> cell_of;
  int answered = 0;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!is_over) {
        const PinnedSnapshot pinned = *store.Pin("arena");
        ASSERT_GE(pinned->revision, last);
        last = pinned->revision;
        // Every batch blocks one cell more.
        ASSERT_EQ(pinned->grid().obstacle_cells(), static_cast<std::int64_t>(pinned->revision) - 1);
      }
    });
  }
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kBatches; ++i) {
        const Cell cell = CellOf(writer, i);
        const auto note = [&, cell](const absl::StatusOr<UpdateResult>& result) {
          ASSERT_THAT(result, IsOk());
          // Published before it is answered.
          ASSERT_GE((*store.Pin("arena"))->revision, result->revision);
          MutexLock lock(mutex);
          EXPECT_TRUE(cell_of.emplace(result->revision, cell).second);
          ++answered;
          is_answered.NotifyAll();
        };
        if (writer % 2 == 0) {
          note(store.UpdateAndWait("arena", {.edits = {Block(cell)}}));
        } else {
          store.Update("arena", {.edits = {Block(cell)}}, note);
        }
      }
    });
  }
  JoinAll(writers);
  {
    const Patience patience("the answers to all batches");
    MutexLock lock(mutex);
    while (answered < kWriters * kBatches && patience.Wait(is_answered, mutex)) {
    }
  }
  is_over = true;
  JoinAll(readers);

  ASSERT_EQ(cell_of.size(), static_cast<std::size_t>(kWriters * kBatches));
  EXPECT_EQ(cell_of.begin()->first, 2U);
  EXPECT_EQ(cell_of.rbegin()->first, kWriters * kBatches + 1U);
  const History history = *store.ReadHistory("arena", 2, kWriters * kBatches);
  ASSERT_EQ(history.commits.size(), cell_of.size());
  for (const SharedCommit& commit : history.commits) {
    EXPECT_EQ(commit->edits, std::vector<Edit>{Block(cell_of.at(commit->revision))});
  }
  // What was published was told of without gaps, and each writer's batches kept their order.
  std::uint64_t revision = 1;
  for (const RecordingListener::Heard& heard : listener.heard()) {
    for (const std::uint64_t commit : heard.commits) {
      ASSERT_EQ(commit, ++revision);
    }
    ASSERT_EQ(heard.revision, revision);
  }
  EXPECT_EQ(revision, kWriters * kBatches + 1U);
  std::vector<int> last_x(kWriters, -1);
  for (const auto& [ignored, cell] : cell_of) {
    EXPECT_GT(cell.x, last_x[static_cast<std::size_t>(cell.y)]);
    last_x[static_cast<std::size_t>(cell.y)] = cell.x;
  }
}

// A map comes and goes while others write to it: every batch is answered, and nothing is told of a map that
// is gone.
TEST(ConcurrentUpdatesTest, MapsComeAndGo) {
  MapStore store(1);
  RecordingListener listener;
  store.AddListener(&listener);
  std::atomic<int> answered = 0;
  std::atomic<int> applied = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        store.Update(
            "arena", {.edits = {Block({i % 3, 0})}}, [&](const absl::StatusOr<UpdateResult>& result) {
              if (result.ok()) {
                ++applied;
              } else {
                EXPECT_THAT(result, IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
              }
              ++answered;
            });
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(store.Create("arena", DrawMap({"..."}), absl::UnixEpoch()), IsOk());
    ASSERT_THAT(store.Delete("arena"), IsOk());
  }
  JoinAll(writers);
  EXPECT_EQ(answered, 900);
  int heard_commits = 0;
  int deletions = 0;
  std::uint64_t revision = 1;
  for (const RecordingListener::Heard& heard : listener.heard()) {
    heard_commits += static_cast<int>(heard.commits.size());
    deletions += heard.is_deletion ? 1 : 0;
    // A deletion tells of the last revision; the next map begins at 1 again.
    EXPECT_GE(heard.revision, heard.is_deletion ? revision : revision + 1);
    revision = heard.is_deletion ? 1 : heard.revision;
  }
  EXPECT_EQ(heard_commits, applied);
  EXPECT_EQ(deletions, 100);
}

// An id that comes again begins at revision 1 under another epoch, whatever else is created and deleted
// meanwhile.
TEST(ConcurrentUpdatesTest, MapsMayBeCreatedAndDeletedByMany) {
  constexpr int kRounds = 200;
  MapStore store(kWriters);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kWriters; ++thread) {
    threads.emplace_back([&store, thread] {
      const std::string id(1, static_cast<char>('a' + thread));
      std::uint64_t last_epoch = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto created = store.Create(id, DrawMap({"..."}), absl::UnixEpoch());
        ASSERT_THAT(created, IsOk());
        EXPECT_EQ((*created)->revision, 1U);
        EXPECT_NE((*created)->epoch, last_epoch);
        EXPECT_EQ(*store.Pin(id), *created);
        ASSERT_THAT(store.UpdateAndWait(id, {.edits = {Block({1, 0})}}), IsOk());
        const auto deleted = store.Delete(id);
        ASSERT_THAT(deleted, IsOk());
        EXPECT_EQ(*deleted, (MapVersion{.epoch = (*created)->epoch, .revision = 2}));
        last_epoch = deleted->epoch;
      }
    });
  }
  JoinAll(threads);
  EXPECT_TRUE(store.List("", kWriters).empty());
}

}  // namespace
}  // namespace waystar::core
