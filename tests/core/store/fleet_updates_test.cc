// Updates of one map by several servers that share a log.

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
using ::waystar::testing::Block;
using ::waystar::testing::IsError;

UpdateBatch BlockAt(int x, const std::string& request_id = "", std::optional<std::uint64_t> expected = {}) {
  return {.edits = {Block({x, 0})}, .expected = {.revision = expected}, .request_id = request_id};
}

UpdateBatch PutBatch(const std::string& id, int x, std::optional<absl::Duration> lifetime,
                     bool replace = false) {
  return {
      .edits = {PutObstacle{
          .obstacle = {.id = id, .shape = {.cells = {{x, 0}}}}, .lifetime = lifetime, .replace = replace}}};
}

class FleetUpdatesTest : public ::testing::Test {
 protected:
  // Lets a server do all that it can alone.
  static void StepAll(FleetServer& server) {
    while (server.client.Step()) {
    }
  }

  Fleet fleet_{2};
  FleetServer& a_ = fleet_[0];
  FleetServer& b_ = fleet_[1];
};

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
  fleet_.Update(a_, PutBatch("door", 2, absl::Seconds(60), true));
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
  EXPECT_THAT(a_.store.FollowCommits("lobby", 8, commit(2, digest)),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
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

}  // namespace
}  // namespace waystar::core
