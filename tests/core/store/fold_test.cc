// Batches that wait together, made to by a `done` that calls the store while its thread commits.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::IsOk;
using ::waystar::testing::RecordingListener;
using ::waystar::testing::Unblock;

class FoldTest : public StoreTest {
 protected:
  using StoreTest::StoreTest;

  // All of them wait while the map's leader is held up, which has published revision 2. Returns their
  // answers, in the order in which they came.
  std::vector<std::string> UpdateTogether(std::vector<UpdateBatch> batches) {
    sent_ = 0;
    store_.Update("arena", BlockBatch({7, 0}), [&](const absl::StatusOr<UpdateResult>&) {
      for (UpdateBatch& batch : batches) {
        Update(std::move(batch));
      }
    });
    return TakeAnswers();
  }
};

TEST_F(FoldTest, BatchesWhoseCallersAreGoneAreNotApplied) {
  const std::atomic<bool> cancelled = true;
  UpdateBatch gone = BlockBatch({1, 0});
  gone.caller = CallerStop(std::chrono::steady_clock::time_point::max(), &cancelled);
  UpdateBatch late = BlockBatch({3, 0});
  late.caller = CallerStop(std::chrono::steady_clock::time_point::min(), nullptr);
  EXPECT_THAT(UpdateTogether({BlockBatch({0, 0}), gone, BlockBatch({2, 0}), late, BlockBatch({4, 0})}),
              ElementsAre("0: 3", "1: CANCELLED", "2: 4", "3: DEADLINE_EXCEEDED", "4: 5"));
  EXPECT_EQ(Drawn(), "#.#.#..#");
}

TEST_F(FoldTest, ABatchThatWasAppliedIsAnsweredWhoeverIsGone) {
  const std::atomic<bool> cancelled = true;
  UpdateBatch first = BlockBatch({1, 0});
  first.request_id = "first";
  UpdateBatch again = first;
  again.caller = CallerStop(std::chrono::steady_clock::time_point::max(), &cancelled);
  EXPECT_THAT(UpdateTogether({first, again}), ElementsAre("0: 3", "1: 3 again"));
}

TEST_F(FoldTest, WaitingBatchesBecomeOneSnapshotWithARevisionEach) {
  EXPECT_THAT(
      UpdateTogether({BlockBatch({0, 0}), BlockBatch({1, 0}), {.edits = {Unblock({0, 0}), Block({2, 0})}}}),
      ElementsAre("0: 3", "1: 4", "2: 5"));
  EXPECT_EQ(Drawn(), ".##....#");
  ASSERT_THAT(listener_.heard(), SizeIs(2));
  EXPECT_EQ(listener_.heard()[1].revision, 5U);
  EXPECT_THAT(listener_.heard()[1].commits, ElementsAre(3, 4, 5));
  const History history = *store_.ReadHistory("arena", 5, 1);
  EXPECT_EQ(history.commits[0]->summary.changed_cells, 2);
  EXPECT_EQ(history.commits[0]->summary.changed_bounds, (Rectangle{0, 0, 3, 1}));
}

TEST_F(FoldTest, NothingIsPublishedWhenAllAreRefused) {
  EXPECT_THAT(UpdateTogether({BlockBatch({8, 0}), {}}), ElementsAre("0: OFF_MAP", "1: EMPTY_BATCH"));
  EXPECT_THAT(listener_.heard(), SizeIs(1));
  EXPECT_EQ(Revision(), 2U);
}

TEST_F(FoldTest, ExpectedRevisionCountsTheBatchesBefore) {
  EXPECT_THAT(UpdateTogether({
                  {.edits = {Block({0, 0})}, .expected = {.revision = 2}},
                  {.edits = {Block({1, 0})}, .expected = {.revision = 2}},
                  {.edits = {Block({8, 0})}, .expected = {.revision = 3}},
                  {.edits = {Block({2, 0})}, .expected = {.revision = 3}},
              }),
              ElementsAre("0: 3", "1: STALE_REVISION", "2: OFF_MAP", "3: 4"));
  EXPECT_EQ(Drawn(), "#.#....#");
}

TEST_F(FoldTest, DeletionAnswersWhatWaits) {
  store_.Update("arena", BlockBatch({7, 0}), [&](const absl::StatusOr<UpdateResult>&) {
    for (int x = 0; x < 3; ++x) {
      Update(x);
    }
    EXPECT_EQ(store_.Delete("arena")->revision, 2U);
    // The id is free before those that waited hear of it.
    EXPECT_THAT(store_.Create("arena", DrawMap({"...."}), clock_.Now()), IsOk());
  });
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: MAP_NOT_FOUND", "1: MAP_NOT_FOUND", "2: MAP_NOT_FOUND"));
  EXPECT_EQ(Revision(), 1U);
  EXPECT_EQ(Drawn(), "....");
  ASSERT_THAT(listener_.heard(), SizeIs(2));
  EXPECT_TRUE(listener_.heard()[1].is_deletion);
  EXPECT_EQ(listener_.heard()[1].revision, 2U);
}

class SmallFoldTest : public FoldTest {
 protected:
  SmallFoldTest()
      : FoldTest({.max_waiting_batches = 6,
                  .max_waiting_bytes = 1 << 20,
                  .max_fold_batches = 4,
                  .max_fold_edits = 5}) {}
};

TEST_F(SmallFoldTest, FoldsAreBounded) {
  const std::vector<Edit> two = {Block({0, 0}), Block({1, 0})};
  UpdateTogether({{.edits = two}, {.edits = two}, {.edits = two}, {.edits = two}});
  UpdateTogether(
      {BlockBatch({0, 0}), BlockBatch({0, 0}), BlockBatch({0, 0}), BlockBatch({0, 0}), BlockBatch({0, 0})});
  std::vector<std::size_t> sizes;
  for (const RecordingListener::Heard& heard : listener_.heard()) {
    sizes.push_back(heard.commits.size());
  }
  EXPECT_THAT(sizes, ElementsAre(1, 3, 1, 1, 4, 1));
}

TEST_F(SmallFoldTest, OneBatchTooManyIsRefused) {
  // The refusal comes first.
  EXPECT_THAT(UpdateTogether(std::vector<UpdateBatch>(7, BlockBatch({0, 0}))),
              ElementsAre("6: UPDATES_BUSY", "0: 3", "1: 4", "2: 5", "3: 6", "4: 7", "5: 8"));
  EXPECT_GT(RetryDelayOf(last_refusal_), absl::ZeroDuration());
}

TEST_F(SmallFoldTest, SoIsOneThatTakesTooMuchMemory) {
  const UpdateBatch large{.edits = {BlockCells{{.cells = std::vector<Cell>(100'000, Cell{0, 0})}}}};
  EXPECT_THAT(UpdateTogether({large, large, BlockBatch({1, 0})}),
              ElementsAre("1: UPDATES_BUSY", "0: 3", "2: 4"));
}

TEST(FoldOfLargeBatchTest, BatchOfAnySizeMayWaitAlone) {
  MapStore store({.max_waiting_bytes = 1});
  ASSERT_THAT(store.Create("arena", DrawMap({"..."}), absl::UnixEpoch()), IsOk());
  EXPECT_THAT(store.UpdateAndWait("arena", BlockBatch({1, 0})), IsOk());
}

// The thread that commits hands the queue over to the tasks that it defers.
class DeferTest : public FoldTest {
 protected:
  explicit DeferTest(StoreOptions options = {.max_fold_batches = 1, .max_folds_in_a_row = 2})
      : FoldTest([&] {
          options.defer = [this](const DeferredWork& work, std::function<void()> task) {
            if (is_refusing_) {
              return false;
            }
            EXPECT_FALSE(deferred_);
            work_ = work;
            deferred_ = std::move(task);
            return true;
          };
          return options;
        }()) {}

  bool is_refusing_ = false;
  DeferredWork work_;
  std::function<void()> deferred_;
};

TEST_F(DeferTest, LeaderHandsOverAfterItsShare) {
  EXPECT_THAT(
      UpdateTogether({BlockBatch({0, 0}), BlockBatch({1, 0}), BlockBatch({2, 0}), BlockBatch({3, 0})}),
      ElementsAre("0: 3"));
  // Somebody leads though nobody works.
  Update(5);
  EXPECT_THAT(TakeAnswers(), IsEmpty());
  std::exchange(deferred_, nullptr)();
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: 4", "2: 5"));
  std::exchange(deferred_, nullptr)();
  EXPECT_THAT(TakeAnswers(), ElementsAre("3: 6", "4: 7"));
  EXPECT_FALSE(deferred_);
  EXPECT_THAT(store_.UpdateAndWait("arena", BlockBatch({6, 0})), IsOk());
}

TEST_F(DeferTest, LeaderGoesOnWhileNobodyTakesOver) {
  is_refusing_ = true;
  EXPECT_THAT(UpdateTogether(std::vector<UpdateBatch>(9, BlockBatch({0, 0}))), SizeIs(9));
}

TEST_F(DeferTest, MapMayGoWhileItsQueueIsDeferred) {
  EXPECT_THAT(UpdateTogether(std::vector<UpdateBatch>(3, BlockBatch({0, 0}))), SizeIs(1));
  EXPECT_THAT(store_.Delete("arena"), IsOk());
  std::exchange(deferred_, nullptr)();
  EXPECT_FALSE(deferred_);
  EXPECT_TRUE(listener_.heard().back().is_deletion);
}

UpdateBatch LargeBatch(std::uint64_t client) {
  return {.edits = {BlockCells{.shape = {.rectangles = {{0, 0, 3, 1}, {3, 0, 3, 1}}}}}, .client = client};
}

// One blocked cell is not more work than `large_work`, those of two rectangles are.
class LargeBatchTest : public DeferTest {
 protected:
  LargeBatchTest() : DeferTest({.large_work = 70}) {}
};

TEST_F(LargeBatchTest, IsCommittedElsewhereForItsClient) {
  Update(7);
  EXPECT_FALSE(deferred_);
  UpdateBatch both = LargeBatch(5);
  both.edits.insert(both.edits.begin(), Block({0, 0}));
  Update(both);
  ASSERT_TRUE(deferred_);
  EXPECT_TRUE(work_.is_large);
  EXPECT_EQ(work_.client, 5U);
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
}

TEST_F(LargeBatchTest, ThoseBehindItWaitAndThenGoOnWhereTheyBelong) {
  Update(LargeBatch(5));
  ASSERT_TRUE(deferred_);
  Update(7);
  EXPECT_THAT(TakeAnswers(), IsEmpty());
  std::exchange(deferred_, nullptr)();
  // They fit into one snapshot.
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: 3"));
  EXPECT_FALSE(deferred_);
}

TEST_F(LargeBatchTest, EndsTheGroupOfThoseBeforeIt) {
  EXPECT_THAT(UpdateTogether({BlockBatch({0, 0}), LargeBatch(9), BlockBatch({1, 0})}), ElementsAre("0: 3"));
  ASSERT_TRUE(deferred_);
  EXPECT_EQ(work_.client, 9U);
  std::exchange(deferred_, nullptr)();
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: 4", "2: 5"));
}

TEST_F(LargeBatchTest, IsCommittedHereWhileNobodyTakesIt) {
  is_refusing_ = true;
  Update(LargeBatch(5));
  Update(7);
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: 3"));
}

}  // namespace
}  // namespace waystar::core
