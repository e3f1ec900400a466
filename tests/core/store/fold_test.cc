// Batches that wait together, made to by a `done` that calls the store while its thread commits.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::waystar::testing::Block;
using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::RecordingListener;
using ::waystar::testing::Unblock;

using Answer = absl::StatusOr<UpdateResult>;

class FoldTest : public ::testing::Test {
 protected:
  // A fold never ends for want of time.
  explicit FoldTest(StoreOptions options = {})
      : store_([&] {
          options.clock = &clock_;
          return options;
        }()) {
    store_.AddListener(&listener_);
    EXPECT_THAT(store_.Create("arena", DrawMap({"........"}), clock_.Now()), IsOk());
  }

  // All of them wait while the map's leader is held up. Their answers, in the order in which they came.
  std::vector<Answer> UpdateTogether(std::vector<UpdateBatch> batches) {
    answers_.clear();
    store_.Update("arena", BlockBatch({7, 0}), [&](const Answer&) {
      for (UpdateBatch& batch : batches) {
        store_.Update("arena", std::move(batch),
                      [&](Answer answer) { answers_.push_back(std::move(answer)); });
      }
      EXPECT_THAT(answers_, IsEmpty());
    });
    return answers_;
  }

  std::vector<std::string> Drawn() { return DrawPath((*store_.Pin("arena"))->grid(), {}); }

  FakeClock clock_;
  RecordingListener listener_;
  std::vector<Answer> answers_;
  MapStore store_;
};

TEST_F(FoldTest, BatchesWhoseCallersAreGoneAreNotApplied) {
  const std::atomic<bool> cancelled = true;
  UpdateBatch gone = BlockBatch({1, 0});
  gone.caller = CallerStop(std::chrono::steady_clock::time_point::max(), &cancelled);
  UpdateBatch late = BlockBatch({3, 0});
  late.caller = CallerStop(std::chrono::steady_clock::time_point::min(), nullptr);
  const std::vector<Answer> answers =
      UpdateTogether({BlockBatch({0, 0}), gone, BlockBatch({2, 0}), late, BlockBatch({4, 0})});
  ASSERT_THAT(answers, SizeIs(5));
  EXPECT_EQ(answers[0]->revision, 3U);
  EXPECT_THAT(answers[1], IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
  EXPECT_EQ(answers[2]->revision, 4U);
  EXPECT_THAT(answers[3], IsError(absl::StatusCode::kDeadlineExceeded, ErrorReason::kDeadlineExceeded, ""));
  EXPECT_EQ(answers[4]->revision, 5U);
  EXPECT_THAT(Drawn(), ElementsAre("#.#.#..#"));
}

TEST_F(FoldTest, ABatchThatWasAppliedIsAnsweredWhoeverIsGone) {
  const std::atomic<bool> cancelled = true;
  UpdateBatch first = BlockBatch({1, 0});
  first.request_id = "first";
  UpdateBatch again = first;
  again.caller = CallerStop(std::chrono::steady_clock::time_point::max(), &cancelled);
  const std::vector<Answer> answers = UpdateTogether({first, again});
  ASSERT_THAT(answers, SizeIs(2));
  ASSERT_THAT(answers[1], IsOk());
  EXPECT_TRUE(answers[1]->already_applied);
  EXPECT_EQ(answers[1]->revision, answers[0]->revision);
}

TEST_F(FoldTest, WaitingBatchesBecomeOneSnapshotWithARevisionEach) {
  const std::vector<Answer> answers =
      UpdateTogether({BlockBatch({0, 0}), BlockBatch({1, 0}), {.edits = {Unblock({0, 0}), Block({2, 0})}}});
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0]->revision, 3U);
  EXPECT_EQ(answers[1]->revision, 4U);
  EXPECT_EQ(answers[2]->revision, 5U);
  EXPECT_EQ(answers[2]->summary.changed_cells, 2);
  EXPECT_EQ(answers[2]->summary.changed_bounds, (Rectangle{0, 0, 3, 1}));
  EXPECT_THAT(Drawn(), ElementsAre(".##....#"));
  ASSERT_THAT(listener_.heard(), SizeIs(2));
  EXPECT_EQ(listener_.heard()[1].revision, 5U);
  EXPECT_THAT(listener_.heard()[1].commits, ElementsAre(3, 4, 5));
}

TEST_F(FoldTest, NothingIsPublishedWhenAllAreRefused) {
  EXPECT_THAT(UpdateTogether({BlockBatch({8, 0}), {}}), SizeIs(2));
  EXPECT_THAT(listener_.heard(), SizeIs(1));
  EXPECT_EQ((*store_.Pin("arena"))->revision, 2U);
}

TEST_F(FoldTest, ExpectedRevisionCountsTheBatchesBefore) {
  const std::vector<Answer> answers = UpdateTogether({
      {.edits = {Block({0, 0})}, .expected = {.revision = 2}},
      {.edits = {Block({1, 0})}, .expected = {.revision = 2}},
      {.edits = {Block({8, 0})}, .expected = {.revision = 3}},
      {.edits = {Block({2, 0})}, .expected = {.revision = 3}},
  });
  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_EQ(answers[0]->revision, 3U);
  EXPECT_THAT(answers[1],
              IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
  EXPECT_FALSE(answers[2].ok());
  EXPECT_EQ(answers[3]->revision, 4U);
  EXPECT_THAT(Drawn(), ElementsAre("#.#....#"));
}

TEST_F(FoldTest, RetryThatWaitsBesideTheFirstIsAnsweredAlike) {
  const UpdateBatch batch{.edits = {Block({0, 0})}, .expected = {.revision = 2}, .request_id = "a"};
  UpdateBatch other = batch;
  other.edits = {Block({1, 0})};
  const std::vector<Answer> answers = UpdateTogether({batch, batch, other});
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0]->revision, 3U);
  EXPECT_FALSE(answers[0]->already_applied);
  EXPECT_EQ(answers[1]->revision, 3U);
  EXPECT_EQ(answers[1]->summary.changed_bounds, (Rectangle{0, 0, 1, 1}));
  EXPECT_TRUE(answers[1]->already_applied);
  EXPECT_THAT(answers[2],
              IsError(absl::StatusCode::kInvalidArgument, ErrorReason::kRequestIdReused, "request_id"));
  EXPECT_EQ((*store_.Pin("arena"))->revision, 3U);
}

TEST_F(FoldTest, DeletionAnswersWhatWaits) {
  std::vector<Answer> answers;
  store_.Update("arena", BlockBatch({7, 0}), [&](const Answer&) {
    for (int x = 0; x < 3; ++x) {
      store_.Update("arena", BlockBatch({x, 0}),
                    [&](Answer answer) { answers.push_back(std::move(answer)); });
    }
    EXPECT_EQ(store_.Delete("arena")->revision, 2U);
    // The id is free before those that waited hear of it.
    EXPECT_THAT(store_.Create("arena", DrawMap({"...."}), clock_.Now()), IsOk());
  });
  ASSERT_THAT(answers, SizeIs(3));
  for (const Answer& answer : answers) {
    EXPECT_THAT(answer, IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  }
  EXPECT_EQ((*store_.Pin("arena"))->revision, 1U);
  EXPECT_THAT(Drawn(), ElementsAre("...."));
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
  std::vector<UpdateBatch> batches(7, BlockBatch({0, 0}));
  std::vector<Answer> answers;
  std::vector<Answer> refused;
  store_.Update("arena", BlockBatch({7, 0}), [&](const Answer&) {
    for (UpdateBatch& batch : batches) {
      store_.Update("arena", std::move(batch),
                    [&](Answer answer) { (answer.ok() ? answers : refused).push_back(std::move(answer)); });
    }
  });
  EXPECT_THAT(answers, SizeIs(6));
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_THAT(refused[0], IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kUpdatesBusy, ""));
  EXPECT_GT(RetryDelayOf(refused[0].status()), absl::ZeroDuration());
}

TEST_F(SmallFoldTest, SoIsOneThatTakesTooMuchMemory) {
  const UpdateBatch large{.edits = {BlockCells{{.cells = std::vector<Cell>(100'000, Cell{0, 0})}}}};
  const UpdateBatch small = BlockBatch({1, 0});
  std::vector<bool> is_applied;
  store_.Update("arena", small, [&](const Answer&) {
    for (const UpdateBatch& batch : {large, large, small}) {
      store_.Update("arena", batch, [&](const Answer& answer) { is_applied.push_back(answer.ok()); });
    }
  });
  // The refusal comes first.
  EXPECT_THAT(is_applied, ElementsAre(false, true, true));
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
            return Defer(work, std::move(task));
          };
          return options;
        }()) {}

  bool Defer(const DeferredWork& work, std::function<void()> task) {
    if (is_refusing_) {
      return false;
    }
    EXPECT_FALSE(deferred_);
    work_ = work;
    deferred_ = std::move(task);
    return true;
  }

  bool is_refusing_ = false;
  DeferredWork work_;
  std::function<void()> deferred_;
};

TEST_F(DeferTest, LeaderHandsOverAfterItsShare) {
  std::vector<std::uint64_t> revisions;
  store_.Update("arena", BlockBatch({7, 0}), [&](const Answer&) {
    for (int i = 0; i < 4; ++i) {
      store_.Update("arena", BlockBatch({i, 0}),
                    [&](const Answer& answer) { revisions.push_back(answer->revision); });
    }
  });
  EXPECT_THAT(revisions, ElementsAre(3));
  // Somebody leads though nobody works.
  store_.Update("arena", BlockBatch({5, 0}),
                [&](const Answer& answer) { revisions.push_back(answer->revision); });
  EXPECT_THAT(revisions, ElementsAre(3));
  std::exchange(deferred_, nullptr)();
  EXPECT_THAT(revisions, ElementsAre(3, 4, 5));
  std::exchange(deferred_, nullptr)();
  EXPECT_THAT(revisions, ElementsAre(3, 4, 5, 6, 7));
  EXPECT_FALSE(deferred_);
  EXPECT_THAT(store_.UpdateAndWait("arena", BlockBatch({6, 0})), IsOk());
}

TEST_F(DeferTest, LeaderGoesOnWhileNobodyTakesOver) {
  is_refusing_ = true;
  EXPECT_THAT(UpdateTogether(std::vector<UpdateBatch>(9, BlockBatch({0, 0}))), SizeIs(9));
}

UpdateBatch LargeBatch(std::uint64_t client) {
  return {.edits = {BlockCells{.shape = {.rectangles = {{0, 0, 3, 1}, {3, 0, 3, 1}}}}}, .client = client};
}

// One blocked cell is not more work than `large_work`, those of two rectangles are.
class LargeBatchTest : public DeferTest {
 protected:
  LargeBatchTest() : DeferTest({.large_work = 70}) {}

  void Update(UpdateBatch batch) {
    store_.Update("arena", std::move(batch),
                  [&](const Answer& answer) { revisions_.push_back(answer->revision); });
  }

  std::vector<std::uint64_t> revisions_;
};

UpdateBatch Both(const UpdateBatch& one, const UpdateBatch& other) {
  UpdateBatch both = one;
  both.edits.insert(both.edits.end(), other.edits.begin(), other.edits.end());
  return both;
}

TEST_F(LargeBatchTest, IsCommittedElsewhereForItsClient) {
  Update(BlockBatch({7, 0}));
  EXPECT_FALSE(deferred_);
  Update(Both(BlockBatch({0, 0}), LargeBatch(5)));
  ASSERT_TRUE(deferred_);
  EXPECT_TRUE(work_.is_large);
  EXPECT_THAT(revisions_, ElementsAre(2));
}

TEST_F(LargeBatchTest, ThoseBehindItWaitAndThenGoOnWhereTheyBelong) {
  Update(LargeBatch(5));
  ASSERT_TRUE(deferred_);
  EXPECT_EQ(work_.client, 5U);
  Update(BlockBatch({7, 0}));
  EXPECT_THAT(revisions_, IsEmpty());
  std::exchange(deferred_, nullptr)();
  // They fit into one snapshot.
  EXPECT_THAT(revisions_, ElementsAre(2, 3));
  EXPECT_FALSE(deferred_);
}

TEST_F(LargeBatchTest, EndsTheGroupOfThoseBeforeIt) {
  store_.Update("arena", BlockBatch({7, 0}), [&](const Answer&) {
    Update(BlockBatch({0, 0}));
    Update(LargeBatch(9));
    Update(BlockBatch({1, 0}));
  });
  EXPECT_THAT(revisions_, ElementsAre(3));
  ASSERT_TRUE(deferred_);
  EXPECT_EQ(work_.client, 9U);
  std::exchange(deferred_, nullptr)();
  EXPECT_THAT(revisions_, ElementsAre(3, 4, 5));
}

TEST_F(LargeBatchTest, IsCommittedHereWhileNobodyTakesIt) {
  is_refusing_ = true;
  Update(LargeBatch(5));
  Update(BlockBatch({7, 0}));
  EXPECT_THAT(revisions_, ElementsAre(2, 3));
}

TEST_F(DeferTest, MapMayGoWhileItsQueueIsDeferred) {
  EXPECT_THAT(UpdateTogether(std::vector<UpdateBatch>(3, BlockBatch({0, 0}))), SizeIs(1));
  EXPECT_THAT(store_.Delete("arena"), IsOk());
  std::exchange(deferred_, nullptr)();
  EXPECT_FALSE(deferred_);
  EXPECT_TRUE(listener_.heard().back().is_deletion);
}

}  // namespace
}  // namespace waystar::core
