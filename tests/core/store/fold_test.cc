// Batches that wait together, made to by a `done` that calls the store while its thread commits.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/store/held_store.h"
#include "tests/testing/slow_digest.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

// So many are a group of their own while others are in flight.
constexpr int kManyBatches = 64;

using DurableUpdatesTest = HeldStoreTest;

TEST_F(DurableUpdatesTest, WhatWouldFailDoesNotWaitBehindWhatIsInDoubt) {
  Update(0);
  log_.Refuse(StorageFailure());
  Update(1);
  EXPECT_EQ(store_.Create("yard", DrawMap({"..."}), clock_.Now()).status(), StorageFailure());
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: STORAGE_FAILED"));
  log_.Refuse(absl::OkStatus());
  Update(2);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "2: 3"));
}

TEST_F(DurableUpdatesTest, NobodyIsToldOfWhatHasNotLanded) {
  Update(0);
  EXPECT_EQ(Revision(), 1U);
  EXPECT_EQ(store_.List("", 9)[0]->revision, 1U);
  EXPECT_EQ(store_.Store("arena")->snapshot->revision, 1U);
  const History before = *store_.ReadHistory("arena", 2, 9);
  EXPECT_THAT(before.commits, IsEmpty());
  EXPECT_EQ(before.latest_revision, 1U);
  EXPECT_EQ(store_.ReadHistory("arena", 3, 9)->kind, History::Kind::kFuture);
  EXPECT_THAT(listener_.heard(), IsEmpty());
  EXPECT_THAT(TakeAnswers(), IsEmpty());

  EXPECT_TRUE(log_.LandNext());
  EXPECT_EQ(Revision(), 2U);
  EXPECT_EQ(Drawn(), "#.......");
  EXPECT_THAT(store_.ReadHistory("arena", 2, 9)->commits, SizeIs(1));
  ASSERT_THAT(listener_.heard(), SizeIs(1));
  EXPECT_EQ(listener_.heard()[0].revision, 2U);
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
}

TEST_F(DurableUpdatesTest, LogGetsTheCommitsAndTheirRequests) {
  const absl::Time sent = clock_.Now();
  Update({.edits = {Block({1, 0})}, .request_id = "a", .request_time = sent});
  Update(2);
  log_.LandAll();
  const std::vector<LogEntry> durable = log_.durable();
  ASSERT_THAT(durable, SizeIs(2));
  const LoggedCommit& commit = durable[0].commits.at(0);
  EXPECT_EQ(durable[0].map, "arena");
  EXPECT_EQ(durable[0].version, (MapVersion{.epoch = 7, .revision = 2}));
  EXPECT_EQ(commit.commit, store_.ReadHistory("arena", 2, 1)->commits[0]);
  EXPECT_EQ(commit.request_id, "a");
  EXPECT_EQ(commit.request_time, sent);
  EXPECT_EQ(commit.fingerprint, FingerprintOf(commit.commit->edits, std::nullopt));
  EXPECT_EQ(durable[1].commits.at(0).request_id, "");
}

TEST_F(DurableUpdatesTest, FewBatchesWaitUntilOneHasLandedAndAreOneGroupThen) {
  for (int i = 0; i < 20; ++i) {
    Update(i % 8);
  }
  EXPECT_EQ(log_.waiting(), 2U);
  log_.LandNext();
  EXPECT_EQ(log_.waiting(), 2U);
  EXPECT_EQ(log_.appends(), 3U);
  log_.LandAll();
  EXPECT_EQ(Revision(), 21U);
  EXPECT_THAT(listener_.heard().back().commits, SizeIs(18));
  EXPECT_THAT(answers_, SizeIs(20));
  Update(0);
  EXPECT_EQ(log_.waiting(), 1U);
}

TEST_F(DurableUpdatesTest, AnswersMayUpdate) {
  store_.Update("arena", BlockBatch({0, 0}), [&](const auto&) {
    Update(1);
    Update(9);
  });
  Update(2);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 3", "1: 4", "2: OFF_MAP"));
  EXPECT_EQ(Drawn(), "###.....");
}

TEST_F(DurableUpdatesTest, LostUpdatesAreTakenBackAndTheNextFollowsWhatIsPublished) {
  Update(0);
  Update(1);
  log_.FailNext();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: STORAGE_FAILED"));
  // It waits until the second has come back, too.
  Update(2);
  EXPECT_EQ(log_.waiting(), 1U);
  EXPECT_FALSE(log_.LandNext());
  EXPECT_THAT(TakeAnswers(), ElementsAre("1: STORAGE_FAILED"));
  EXPECT_THAT(listener_.heard(), IsEmpty());
  EXPECT_TRUE(log_.LandNext());
  EXPECT_THAT(TakeAnswers(), ElementsAre("2: 2"));
  EXPECT_EQ(Drawn(), "..#.....");
  const PinnedSnapshot latest = *store_.Pin("arena");
  EXPECT_EQ(latest->digest(), SlowDigest(latest->grid()));
}

TEST_F(DurableUpdatesTest, AnswersOfALossMayUpdate) {
  store_.Update("arena", BlockBatch({0, 0}), [&](const absl::StatusOr<UpdateResult>& answer) {
    EXPECT_EQ(TextOf(answer), "STORAGE_FAILED");
    Update(1);
  });
  log_.FailNext();
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2"));
  EXPECT_EQ(Drawn(), ".#......");
}

TEST_F(DurableUpdatesTest, RefusalsWaitForWhatTheyStandUpon) {
  Update(0);
  Update(1, "", 1);
  Update(9);
  Update(1);
  Update(9);
  EXPECT_THAT(TakeAnswers(), IsEmpty());
  log_.LandNext();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: STALE_REVISION", "2: OFF_MAP"));
  log_.LandNext();
  EXPECT_THAT(TakeAnswers(), ElementsAre("3: 3", "4: OFF_MAP"));
  Update(9);
  EXPECT_THAT(TakeAnswers(), ElementsAre("5: OFF_MAP"));
}

TEST_F(DurableUpdatesTest, RetryWaitsForTheFirst) {
  Update(0, "a");
  Update(0, "a");
  Update(1, "a");
  EXPECT_THAT(TakeAnswers(), IsEmpty());
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: 2 again", "2: REQUEST_ID_REUSED"));
  EXPECT_EQ(log_.appends(), 1U);
}

TEST_F(DurableUpdatesTest, MemoryIsCountedInFlightAndGivenBackAfterALoss) {
  const MemoryUse before = store_.MeasureMemory();
  Update({.edits = {PutObstacle{.obstacle = {.id = "crate", .shape = {.cells = {{1, 1}}}},
                                .lifetime = absl::Seconds(5)}},
          .request_id = "a"});
  EXPECT_GT(store_.MeasureMemory().maps, before.maps);
  EXPECT_GT(store_.MeasureMemory().history, 0U);
  EXPECT_GT(store_.MeasureMemory().requests, 0U);
  log_.FailNext();
  EXPECT_EQ(store_.MeasureMemory().total(), before.total());
}

// A clock that is looked at while a group is composed.
class TellingClock final : public Clock {
 public:
  absl::Time Now() const override {
    if (const std::function<void()> hook = std::exchange(hook_, nullptr)) {
      hook();
    }
    return absl::UnixEpoch();
  }
  // Calls the hook once, at the next look.
  void AtNextLook(std::function<void()> hook) { hook_ = std::move(hook); }

 private:
  mutable std::function<void()> hook_;
};

class LossWhileComposingTest : public DurableUpdatesTest {
 protected:
  LossWhileComposingTest() : HeldStoreTest({.clock = &looked_at_}) {}

  // Has the first group that is in flight lost while the next one is composed, of many batches.
  void LoseWhileComposing(int x, const std::string& request_id) {
    for (int i = 1; i < kManyBatches; ++i) {
      Update(9);
    }
    looked_at_.AtNextLook([&] { log_.FailNext(); });
    Update(x, request_id);
    looked_at_.AtNextLook(nullptr);
  }

  // Returns how many of the answers say so.
  std::size_t StorageFailures() {
    std::size_t count = 0;
    for (const std::string& answer : TakeAnswers()) {
      count += absl::StrContains(answer, "STORAGE_FAILED") ? 1U : 0U;
    }
    return count;
  }

  // Members of the base are made before, which keep but its address.
  static inline TellingClock looked_at_;
};

TEST_F(LossWhileComposingTest, WhatIsComposedMeanwhileIsLostAndNotSentToTheLog) {
  Update(0, "a");
  Update(1);
  LoseWhileComposing(0, "a");
  EXPECT_EQ(log_.waiting(), 1U);
  log_.LandAll();
  EXPECT_EQ(StorageFailures(), 2U + kManyBatches);
  EXPECT_EQ(Revision(), 1U);
  Update(3);
  log_.LandAll();
  EXPECT_EQ(Revision(), 2U);
}

// The log's own thread returns the last group while the leader composes. In either order, the retry does not
// get the result of a lost batch.
TEST_F(LossWhileComposingTest, SoItIsWhenNothingElseIsInFlight) {
  for (int round = 0; round < 50; ++round) {
    Update(0, "a");
    std::thread thread;
    looked_at_.AtNextLook([&] { thread = std::thread([&] { log_.FailNext(); }); });
    Update(0, "a");
    thread.join();
    EXPECT_THAT(TakeAnswers(), ElementsAre(absl::StrCat(2 * round, ": STORAGE_FAILED"),
                                           absl::StrCat(2 * round + 1, ": STORAGE_FAILED")));
    EXPECT_EQ(log_.waiting(), 0U);
  }
}

class SmallDurableUpdatesTest : public DurableUpdatesTest {
 protected:
  SmallDurableUpdatesTest() : HeldStoreTest({.max_waiting_batches = 3}) {}
};

TEST_F(SmallDurableUpdatesTest, AsManyAreInFlightAsMayWaitBesides) {
  Update(0);
  // They wait for the first, and have a limit, too.
  for (int i = 0; i < 6; ++i) {
    Update(9);
  }
  EXPECT_EQ(log_.waiting(), 1U);
  EXPECT_THAT(TakeAnswers(), ElementsAre("6: UPDATES_BUSY"));
  log_.LandNext();
  EXPECT_THAT(TakeAnswers(),
              ElementsAre("0: 2", "1: OFF_MAP", "2: OFF_MAP", "3: OFF_MAP", "4: OFF_MAP", "5: OFF_MAP"));
}

// One batch fills the memory for those that wait, or are in flight.
class LittleMemoryDurableUpdatesTest : public DurableUpdatesTest {
 protected:
  LittleMemoryDurableUpdatesTest() : HeldStoreTest({.max_waiting_bytes = 1}) {}
};

TEST_F(LittleMemoryDurableUpdatesTest, OneGroupIsInFlight) {
  Update(0);
  Update(1);
  EXPECT_EQ(log_.waiting(), 1U);
  log_.LandNext();
  EXPECT_EQ(log_.waiting(), 1U);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: 3"));
}

// The log's thread hands the loop on.
class DeferredDurableUpdatesTest : public DurableUpdatesTest {
 protected:
  DeferredDurableUpdatesTest()
      : HeldStoreTest(
            {.max_waiting_batches = 2, .defer = [this](const DeferredWork&, std::function<void()> task) {
               deferred_.push_back(std::move(task));
               return true;
             }}) {}

  std::vector<std::function<void()>> deferred_;
};

TEST_F(DeferredDurableUpdatesTest, LoopIsResumedByATask) {
  for (int x = 0; x < 4; ++x) {
    Update(x);
  }
  EXPECT_EQ(log_.waiting(), 2U);
  EXPECT_THAT(deferred_, IsEmpty());
  log_.LandNext();
  EXPECT_EQ(log_.waiting(), 1U);
  log_.LandNext();
  // Somebody leads though nobody works.
  ASSERT_THAT(deferred_, SizeIs(1));
  EXPECT_EQ(log_.waiting(), 0U);
  std::exchange(deferred_, {})[0]();
  EXPECT_EQ(log_.waiting(), 1U);
  log_.LandAll();
  EXPECT_THAT(TakeAnswers(), ElementsAre("0: 2", "1: 3", "2: 4", "3: 5"));
  EXPECT_THAT(deferred_, IsEmpty());
}

}  // namespace
}  // namespace waystar::core
