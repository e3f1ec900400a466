#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "server/core/store/update_log.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

std::vector<std::uint64_t> RevisionsOf(const History& history) {
  std::vector<std::uint64_t> revisions;
  for (const SharedCommit& commit : history.commits) {
    revisions.push_back(commit->revision);
  }
  return revisions;
}

TEST(HistoryTest, TellsWhatEachBatchDid) {
  FakeClock clock;
  MapStore store({.clock = &clock});
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), clock.Now()), IsOk());
  ASSERT_THAT(store.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  clock.Advance(absl::Seconds(5));
  const UpdateBatch batch{.edits = {Block({2, 0}), BlockCells{{.rectangles = {{0, 0, 5, 1}}}}}};
  ASSERT_THAT(store.UpdateAndWait("arena", batch), IsOk());
  const auto history = store.ReadHistory("arena", 2, 10);
  ASSERT_THAT(history, IsOk());
  EXPECT_EQ(history->kind, History::Kind::kHeld);
  EXPECT_EQ(history->latest_revision, 3U);
  ASSERT_THAT(RevisionsOf(*history), ElementsAre(2, 3));
  const Commit& last = *history->commits[1];
  EXPECT_EQ(last.time, clock.Now());
  EXPECT_EQ(last.edits, batch.edits);
  EXPECT_EQ(last.summary.changed_cells, 2);
  EXPECT_EQ(last.summary.changed_bounds, (Rectangle{0, 0, 3, 1}));
  EXPECT_EQ(last.summary.clipped_cells, 2);
  EXPECT_EQ(history->commits[0]->time, clock.Now() - absl::Seconds(5));
}

TEST(HistoryTest, ReadsAPartOfIt) {
  MapStore store(1);
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), absl::UnixEpoch()), IsOk());
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(store.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  }
  EXPECT_THAT(RevisionsOf(*store.ReadHistory("arena", 3, 2)), ElementsAre(3, 4));
  EXPECT_THAT(RevisionsOf(*store.ReadHistory("arena", 6, 2)), ElementsAre(6));
  const History none = *store.ReadHistory("arena", 7, 2);
  EXPECT_EQ(none.kind, History::Kind::kHeld);
  EXPECT_THAT(none.commits, IsEmpty());
  EXPECT_EQ(store.ReadHistory("arena", 8, 2)->kind, History::Kind::kFuture);
  // No commit made the first revision.
  EXPECT_EQ(store.ReadHistory("arena", 1, 2)->kind, History::Kind::kGone);
  EXPECT_THAT(store.ReadHistory("nowhere", 1, 2),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
}

TEST(HistoryTest, IsBoundedByNumber) {
  MapStore store({.max_history_commits = 3});
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), absl::UnixEpoch()), IsOk());
  for (int i = 0; i < 9; ++i) {
    ASSERT_THAT(store.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
  }
  EXPECT_EQ(store.ReadHistory("arena", 7, 9)->kind, History::Kind::kGone);
  EXPECT_THAT(RevisionsOf(*store.ReadHistory("arena", 8, 9)), ElementsAre(8, 9, 10));
}

TEST(HistoryTest, IsBoundedByMemoryButForTheLastCommit) {
  MapStore store({.max_history_bytes = 100'000});
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), absl::UnixEpoch()), IsOk());
  const UpdateBatch large{.edits = {BlockCells{{.cells = std::vector<Cell>(5000, Cell{1, 0})}}}};
  const UpdateBatch huge{.edits = {BlockCells{{.cells = std::vector<Cell>(50'000, Cell{1, 0})}}}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(store.UpdateAndWait("arena", large), IsOk());
  }
  EXPECT_EQ(store.ReadHistory("arena", 2, 9)->kind, History::Kind::kGone);
  EXPECT_THAT(RevisionsOf(*store.ReadHistory("arena", 3, 9)), ElementsAre(3, 4));
  ASSERT_THAT(store.UpdateAndWait("arena", huge), IsOk());
  EXPECT_EQ(store.ReadHistory("arena", 4, 9)->kind, History::Kind::kGone);
  EXPECT_THAT(RevisionsOf(*store.ReadHistory("arena", 5, 9)), ElementsAre(5));
}

}  // namespace
}  // namespace waystar::core
