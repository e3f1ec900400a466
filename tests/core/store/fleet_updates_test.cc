// Updates of one map by several servers that share a log, also of servers that go on from an image of what
// others have done, without the commits between.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/store/fleet.h"

namespace waystar::core {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using FleetUpdatesTest = FleetTest;

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
                                              .map = DrawMap({"........", "........"})}});
  };
  EXPECT_EQ(image(Fleet::kEpoch, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(image(Fleet::kEpoch + 1, 9).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(image(1, 1, "lobby"), IsGone());
  EXPECT_THAT(b_.listener.heard(), SizeIs(0));
  fleet_.Update(b_, BlockAt(0));
  fleet_.ExpectAgreement();
}

// Makes calls that wait for the log, each on a thread of its own.
template <typename... Call>
void CallAtOnce(Call... call) {
  std::vector<std::thread> threads;
  (threads.emplace_back(std::move(call)), ...);
  for (std::thread& thread : threads) {
    thread.join();
  }
}

std::vector<std::string> DeletionsHeard(const FleetServer& server) {
  std::vector<std::string> deletions;
  for (const RecordingListener::Heard& heard : server.listener.heard()) {
    if (heard.is_deletion) {
      deletions.push_back(absl::StrCat(heard.map, " ", heard.revision));
    }
  }
  return deletions;
}

using FleetMapsTest = FleetTest;

TEST_F(FleetMapsTest, MapsAreCreatedReplacedAndDeletedForAll) {
  fleet_.Start();
  ASSERT_THAT(a_.store.Create("lobby", DrawMap({"..#"}), a_.clock.Now()), IsOk());
  fleet_.Settle();
  EXPECT_EQ(b_.Pin("lobby")->version(), a_.Pin("lobby")->version());
  EXPECT_EQ(b_.Pin("lobby")->digest(), a_.Pin("lobby")->digest());
  EXPECT_EQ(b_.Pin("lobby")->create_time, a_.Pin("lobby")->create_time);
  ASSERT_THAT(b_.store.UpdateAndWait("lobby", BlockAt(0)), IsOk());
  const absl::StatusOr<PinnedSnapshot> second = b_.store.Replace("lobby", DrawMap({"...."}), b_.clock.Now());
  ASSERT_THAT(second, IsOk());
  fleet_.Settle();
  EXPECT_EQ(a_.Pin("lobby")->version(), (*second)->version());
  ASSERT_THAT(a_.store.Delete("lobby"), IsOk());
  fleet_.Settle();
  for (const FleetServer* const server : {&a_, &b_}) {
    EXPECT_THAT(server->store.Pin("lobby"), IsGone());
    EXPECT_EQ(server->store.size(), 1U);
    EXPECT_THAT(DeletionsHeard(*server), ElementsAre("lobby 2", "lobby 1"));
  }
}

TEST_F(FleetMapsTest, CreatesOneMapOfAnId) {
  fleet_.Start();
  for (int i = 0; i < 20; ++i) {
    const std::string id = absl::StrCat("lobby-", i);
    absl::StatusOr<PinnedSnapshot> from_a;
    absl::StatusOr<PinnedSnapshot> from_b;
    CallAtOnce([&] { from_a = a_.store.Create(id, DrawMap({"."}), a_.clock.Now()); },
               [&] { from_b = b_.store.Create(id, DrawMap({".."}), b_.clock.Now()); });
    fleet_.Settle();
    ASSERT_NE(from_a.ok(), from_b.ok());
    EXPECT_THAT(from_a.ok() ? from_b : from_a,
                IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
    const PinnedSnapshot& created = from_a.ok() ? *from_a : *from_b;
    EXPECT_EQ(a_.Pin(id)->version(), created->version());
    EXPECT_EQ(b_.Pin(id)->version(), created->version());
    EXPECT_EQ(a_.Pin(id)->digest(), created->digest());
    EXPECT_EQ(b_.Pin(id)->digest(), created->digest());
  }
}

TEST_F(FleetMapsTest, RemembersTheRequestOfACreationElsewhere) {
  fleet_.Start();
  const CreationRequest request = {.request_id = "x", .fingerprint = {.high = 1, .low = 2}};
  ASSERT_THAT(a_.store.Create("lobby", DrawMap({"."}), a_.clock.Now(), request), IsOk());
  fleet_.Settle();
  const absl::StatusOr<PinnedSnapshot> found = b_.store.FindCreated("lobby", request);
  ASSERT_THAT(found, IsOk());
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ((*found)->version(), a_.Pin("lobby")->version());
}

TEST_F(FleetMapsTest, EndsWhatWaitsAtADeletionElsewhere) {
  fleet_.Update(b_, BlockAt(0));
  fleet_.Update(b_, BlockAt(1));
  fleet_.Update(b_, BlockAt(2));
  std::thread deletion([this] { EXPECT_THAT(a_.store.Delete("arena"), IsOk()); });
  a_.client.AwaitAppends(1);
  a_.client.Step();
  fleet_.Settle();
  deletion.join();
  EXPECT_THAT(b_.answers, ElementsAre("0: MAP_NOT_FOUND", "1: MAP_NOT_FOUND", "2: MAP_NOT_FOUND"));
  EXPECT_EQ(b_.store.size(), 0U);
  EXPECT_THAT(DeletionsHeard(b_), ElementsAre("arena 1"));
}

TEST_F(FleetMapsTest, JudgesADeletionAgain) {
  fleet_.Update(b_, BlockAt(0));
  b_.client.Step();
  ASSERT_THAT(fleet_.log().entries("arena"), SizeIs(1));
  absl::StatusOr<MapVersion> refused;
  std::thread deletion([&] { refused = a_.store.Delete("arena", {.revision = 1}); });
  a_.client.AwaitAppends(1);
  fleet_.Settle();
  deletion.join();
  EXPECT_THAT(refused, IsError(absl::StatusCode::kAborted, ErrorReason::kStaleRevision, "expected_version"));
  EXPECT_THAT(b_.answers, ElementsAre("0: 2"));
  // The map goes on.
  fleet_.Update(a_, BlockAt(1));
  fleet_.ExpectAgreement();
  EXPECT_THAT(a_.answers, ElementsAre("0: 3"));
}

TEST_F(FleetMapsTest, DeletesTheVersionThatIsThereInTheEnd) {
  fleet_.Update(b_, BlockAt(0));
  b_.client.Step();
  absl::StatusOr<MapVersion> last;
  std::thread deletion([&] { last = a_.store.Delete("arena"); });
  a_.client.AwaitAppends(1);
  fleet_.Start();
  deletion.join();
  EXPECT_THAT(last, IsOk());
  EXPECT_EQ(last->revision, 2U);
  EXPECT_EQ(a_.client.conflicts(), 1);
  fleet_.Settle();
  EXPECT_THAT(DeletionsHeard(a_), ElementsAre("arena 2"));
  EXPECT_THAT(DeletionsHeard(b_), ElementsAre("arena 2"));
}

// A map comes and goes on both servers while both change it: every call and batch is answered, and in the end
// both have the same.
TEST_F(FleetMapsTest, MapsComeAndGo) {
  fleet_.Start();
  const int rounds = static_cast<int>(Rounds(60));
  std::atomic<int> answered = 0;
  const auto manage = [&](FleetServer& server) {
    return [&] {
      for (int i = 0; i < rounds; ++i) {
        EXPECT_THAT(
            ErrorReasonOf(server.store.Create("lobby", DrawMap({"..."}), server.clock.Now()).status()),
            AnyOf("", "MAP_EXISTS"));
        if (i % 3 == 0) {
          EXPECT_THAT(server.store.Replace("lobby", DrawMap({"...."}), server.clock.Now()), IsOk());
        }
        EXPECT_THAT(ErrorReasonOf(server.store.Delete("lobby").status()), AnyOf("", "MAP_NOT_FOUND"));
      }
    };
  };
  const auto change = [&](FleetServer& server) {
    return [&] {
      for (int i = 0; i < rounds * 4; ++i) {
        server.store.Update("lobby", {.edits = {Block({i % 3, 0})}},
                            [&](const absl::StatusOr<UpdateResult>& result) {
                              EXPECT_THAT(TextOf(result).find_first_not_of("0123456789") == std::string::npos
                                              ? "applied"
                                              : TextOf(result),
                                          AnyOf("applied", "MAP_NOT_FOUND"));
                              ++answered;
                            });
      }
    };
  };
  CallAtOnce(manage(a_), manage(b_), change(a_), change(b_));
  fleet_.Settle();
  EXPECT_EQ(answered, 2 * rounds * 4);
  EXPECT_EQ(a_.store.size(), b_.store.size());
  EXPECT_EQ(DeletionsHeard(a_), DeletionsHeard(b_));
  if (a_.store.size() == 2) {
    EXPECT_EQ(a_.Pin("lobby")->version(), b_.Pin("lobby")->version());
    EXPECT_EQ(a_.Pin("lobby")->digest(), b_.Pin("lobby")->digest());
  }
}

}  // namespace
}  // namespace waystar::core
