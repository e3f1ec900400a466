// Updates of a store with a durable log: what is told when, and what becomes of updates that are lost.

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
using ::waystar::testing::BlockBatch;
using ::waystar::testing::SlowDigest;

// So many are a group of their own while others are in flight.
constexpr int kManyBatches = 64;

using DurableUpdatesTest = HeldStoreTest;

TEST_F(DurableUpdatesTest, WhatWouldFailDoesNotWaitBehindWhatIsInDoubt) {
  Update(0);
  log_.Refuse(StorageFailure());
  Update(1);
  EXPECT_EQ(store_.Create("yard", testing::DrawMap({"..."}), clock_.Now()).status(), StorageFailure());
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
  Update({.edits = {testing::Block({1, 0})}, .request_id = "a", .request_time = sent});
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

// The last group comes back on the log's own thread while the leader composes: whoever is first, the retry
// is not told of what is lost.
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
