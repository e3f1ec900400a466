// Updates of one map by several servers that share a log, also of servers that go on from an image of what
// others have done, without the commits between.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/core/store/fleet.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::waystar::testing::Block;
using ::waystar::testing::RecordingListener;

using FleetUpdatesTest = FleetTest;

TEST_F(FleetUpdatesTest, OneFollowsTheOther) {
  fleet_.Update(a_, BlockAt(0));
  StepAll(a_);
  EXPECT_THAT(a_.answers, ElementsAre("0: 2"));
  EXPECT_EQ(b_.Pin()->revision, 1U);
  StepAll(b_);
  EXPECT_EQ(b_.Drawn(), "#.......");
  fleet_.Update(b_, BlockAt(1));
  StepAll(b_);
  EXPECT_THAT(b_.answers, ElementsAre("0: 3"));
  EXPECT_EQ(a_.client.conflicts() + b_.client.conflicts(), 0);
  fleet_.ExpectAgreement();
}

TEST_F(FleetUpdatesTest, WhatConflictsIsTriedAgainInItsOrder) {
  fleet_.Update(b_, BlockAt(3));
  fleet_.Update(b_, BlockAt(4));
  fleet_.Update(b_, BlockAt(5));
  fleet_.Update(a_, BlockAt(0));
  fleet_.Update(a_, BlockAt(1));
  StepAll(a_);
  EXPECT_THAT(b_.answers, IsEmpty());
  StepAll(b_);
  EXPECT_GT(b_.client.conflicts(), 0);
  EXPECT_THAT(b_.answers, ElementsAre("0: 4", "1: 5", "2: 6"));
  EXPECT_EQ(b_.Drawn(), "##.###..");
  fleet_.ExpectAgreement();
}

TEST_F(FleetUpdatesTest, ExpectedRevisionsAreJudgedAgain) {
  fleet_.Update(b_, BlockAt(3, "", 1));
  fleet_.Update(b_, BlockAt(0, "x"));
  // It is refused for the two before it, but as it turns out those do not come.
  fleet_.Update(b_, BlockAt(4, "", 2));
  fleet_.Update(a_, BlockAt(0, "x"));
  StepAll(a_);
  EXPECT_THAT(a_.answers, ElementsAre("0: 2"));
  StepAll(b_);
  EXPECT_THAT(b_.answers, ElementsAre("0: STALE_REVISION", "1: 2 again", "2: 3"));
  fleet_.ExpectAgreement();
}

TEST_F(FleetUpdatesTest, RequestsAreAppliedOnce) {
  fleet_.Update(a_, BlockAt(0, "x"));
  fleet_.Update(b_, BlockAt(0, "x"));
  fleet_.Update(b_, BlockAt(1, "y"));
  fleet_.Settle();
  fleet_.Update(a_, BlockAt(1, "y"));
  fleet_.Update(a_, BlockAt(2, "x"));
  EXPECT_THAT(a_.answers, ElementsAre("0: 2", "1: 3 again", "2: REQUEST_ID_REUSED"));
  EXPECT_THAT(b_.answers, ElementsAre("0: 2 again", "1: 3"));
  fleet_.ExpectAgreement();
}

TEST_F(FleetUpdatesTest, WhatNobodyWaitsForIsNotTriedAgain) {
  std::atomic<bool> is_cancelled = false;
  UpdateBatch batch = BlockAt(3);
  batch.caller = CallerStop(std::chrono::steady_clock::time_point::max(), &is_cancelled);
  fleet_.Update(b_, std::move(batch));
  fleet_.Update(b_, BlockAt(4));
  is_cancelled = true;
  fleet_.Update(a_, BlockAt(0));
  fleet_.Settle();
  EXPECT_THAT(b_.answers, ElementsAre("0: CANCELLED", "1: 3"));
  EXPECT_EQ(b_.Drawn(), "#...#...");
  fleet_.ExpectAgreement();
}

TEST_F(FleetUpdatesTest, TimesDoNotGoBackwards) {
  a_.clock.Advance(absl::Seconds(5));
  fleet_.Update(a_, BlockAt(0));
  fleet_.Settle();
  fleet_.Update(b_, PutBatch("door", 1, absl::Seconds(1)));
  fleet_.ExpectAgreement();
  EXPECT_EQ(b_.Pin()->latest_commit_time, a_.clock.Now());
  EXPECT_EQ(b_.Pin()->obstacles().Find("door")->expiry, a_.clock.Now() + absl::Seconds(1));
}

TEST_F(FleetUpdatesTest, WhatExpiresIsRemovedOnce) {
  fleet_.Update(a_, PutBatch("door", 0, absl::Seconds(1)));
  fleet_.Update(a_, PutBatch("gate", 1, absl::Seconds(1)));
  fleet_.Settle();
  EXPECT_EQ(b_.next_expiry, b_.clock.Now() + absl::Seconds(1));
  for (FleetServer* const server : {&a_, &b_}) {
    server->clock.Advance(absl::Seconds(1));
    server->store.ExpireDue(server->clock.Now());
  }
  fleet_.ExpectAgreement();
  EXPECT_EQ(a_.Drawn(), "........");
  // One revision has removed both.
  EXPECT_EQ(a_.Pin()->revision, 4U);
  EXPECT_EQ(a_.store.ExpireDue(a_.clock.Now()), absl::InfiniteFuture());
  EXPECT_EQ(b_.store.ExpireDue(b_.clock.Now()), absl::InfiniteFuture());
  fleet_.ExpectAgreement();
  EXPECT_EQ(a_.Pin()->revision, 4U);
}

TEST_F(FleetUpdatesTest, WhatWasPutAgainDoesNotExpireForTheTimeBefore) {
  fleet_.Update(a_, PutBatch("door", 0, absl::Seconds(1)));
  fleet_.Update(a_, PutBatch("gate", 1, absl::Seconds(1)));
  fleet_.Settle();
  b_.clock.Advance(absl::Seconds(1));
  b_.next_expiry = absl::InfiniteFuture();
  b_.store.ExpireDue(b_.clock.Now());
  fleet_.Update(a_, PutBatch("door", 2, absl::Seconds(60)));
  StepAll(a_);
  fleet_.Settle();
  EXPECT_EQ(b_.Drawn(), ".##.....");
  // The other is removed when the scheduler asks again, which was told so.
  EXPECT_LE(b_.next_expiry, b_.clock.Now());
  b_.store.ExpireDue(b_.clock.Now());
  fleet_.ExpectAgreement();
  EXPECT_EQ(a_.Drawn(), "..#.....");
}

TEST_F(FleetUpdatesTest, WhatDoesNotFollowIsRefused) {
  const auto commit = [](std::uint64_t revision, std::uint64_t digest) {
    return std::vector<LoggedCommit>{
        {.commit = std::make_shared<const Commit>(
             Commit{.revision = revision, .edits = {Block({0, 0})}, .digest = digest})}};
  };
  const std::uint64_t digest = a_.Pin()->digest();
  EXPECT_EQ(a_.store.FollowCommits("arena", Fleet::kEpoch, commit(2, digest)).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(a_.store.FollowCommits("arena", Fleet::kEpoch, commit(3, digest)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(a_.store.FollowCommits("arena", 8, commit(2, digest)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(a_.store.FollowCommits("lobby", 8, commit(2, digest)), IsGone());
  EXPECT_EQ(a_.store.FollowDeletion("arena", {.epoch = Fleet::kEpoch, .revision = 2}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(a_.Drawn(), "........");
  EXPECT_THAT(a_.listener.heard(), IsEmpty());
  // The map goes on.
  fleet_.Update(a_, BlockAt(1));
  fleet_.ExpectAgreement();
  EXPECT_EQ(b_.Drawn(), ".#......");
}

TEST_F(FleetUpdatesTest, WhatFailsIsNotTriedAgain) {
  fleet_.Update(a_, BlockAt(0));
  fleet_.Update(a_, BlockAt(1));
  a_.client.FailUnsent("arena");
  fleet_.Update(b_, BlockAt(2));
  fleet_.Settle();
  EXPECT_THAT(a_.answers, ElementsAre("0: STORAGE_FAILED", "1: STORAGE_FAILED"));
  EXPECT_EQ(a_.Drawn(), "..#.....");
  fleet_.ExpectAgreement();
}

History::Kind KindFrom(const FleetServer& server, std::uint64_t revision) {
  return server.store.ReadHistory("arena", revision, 100)->kind;
}

class FleetImagesTest : public FleetTest {
 protected:
  bool Skip() { return b_.client.Skip(*a_.store.Store("arena")); }
};

TEST_F(FleetImagesTest, WatchersHearOfALaterRevisionAndOfNoEnd) {
  fleet_.Update(b_, BlockAt(0));
  fleet_.Settle();
  const PinnedSnapshot before = b_.Pin();
  for (int x = 1; x < 4; ++x) {
    fleet_.Update(a_, BlockAt(x));
  }
  StepAll(a_);
  ASSERT_TRUE(Skip());
  EXPECT_EQ(b_.Drawn(), "####....");
  EXPECT_EQ(b_.Pin()->version(), a_.Pin()->version());
  EXPECT_EQ(before->revision, 2U);
  const std::vector<RecordingListener::Heard> heard = b_.listener.heard();
  ASSERT_THAT(heard, SizeIs(2));
  EXPECT_EQ(heard[1].revision, 5U);
  EXPECT_THAT(heard[1].commits, ElementsAre());
  EXPECT_FALSE(heard[1].is_deletion);
  // Those who know an earlier revision have to look at the map; those who know this one go on.
  EXPECT_EQ(KindFrom(b_, 2), History::Kind::kGone);
  EXPECT_EQ(KindFrom(b_, 5), History::Kind::kGone);
  EXPECT_EQ(KindFrom(b_, 6), History::Kind::kHeld);
  EXPECT_EQ(KindFrom(b_, 7), History::Kind::kFuture);
  fleet_.Update(a_, BlockAt(4));
  fleet_.Settle();
  fleet_.Update(b_, BlockAt(5));
  fleet_.Settle();
  EXPECT_THAT(b_.answers, ElementsAre("0: 2", "1: 7"));
  EXPECT_THAT(b_.store.ReadHistory("arena", 6, 100)->commits, SizeIs(2));
  EXPECT_EQ(a_.Pin()->digest(), b_.Pin()->digest());
}

TEST_F(FleetImagesTest, LifetimesAreThoseOfTheImage) {
  fleet_.Update(a_, PutBatch("door", 0, absl::Seconds(1)));
  fleet_.Settle();
  fleet_.Update(a_, PutBatch("door", 0, absl::Seconds(60)));
  fleet_.Update(a_, PutBatch("gate", 1, absl::Seconds(2)));
  StepAll(a_);
  ASSERT_TRUE(Skip());
  b_.clock.Advance(absl::Seconds(2));
  b_.store.ExpireDue(b_.clock.Now());
  fleet_.Settle();
  EXPECT_EQ(a_.Drawn(), "#.......");
  EXPECT_EQ(b_.Drawn(), "#.......");
}

TEST_F(FleetImagesTest, WhatIsNoLaterIsRefused) {
  const auto image = [&](std::uint64_t epoch, std::uint64_t revision, const std::string& id = "arena") {
    return b_.store.FollowImage({.snapshot = {.id = id,
                                              .epoch = epoch,
                                              .revision = revision,
                                              .create_time = b_.clock.Now(),
                                              .map = testing::DrawMap({"........", "........"})}});
  };
  EXPECT_EQ(image(Fleet::kEpoch, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(image(Fleet::kEpoch + 1, 9).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(image(1, 1, "lobby"), IsGone());
  EXPECT_THAT(b_.listener.heard(), SizeIs(0));
  fleet_.Update(b_, BlockAt(0));
  fleet_.ExpectAgreement();
}

}  // namespace
}  // namespace waystar::core
