// A server that goes on from an image of what others have done, without the commits between.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/store/fleet.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::Block;
using ::waystar::testing::IsError;
using ::waystar::testing::Random;
using ::waystar::testing::RecordingListener;
using ::waystar::testing::Rounds;

UpdateBatch BlockedAt(int x, const std::string& request_id = "") {
  return {.edits = {Block({x, 0})}, .request_id = request_id};
}

History::Kind KindFrom(const FleetServer& server, std::uint64_t revision) {
  return server.store.ReadHistory("arena", revision, 100)->kind;
}

class FleetImagesTest : public ::testing::Test {
 protected:
  static void StepAll(FleetServer& server) {
    while (server.client.Step()) {
    }
  }
  bool Skip() { return b_.client.Skip(*a_.store.Store("arena")); }

  Fleet fleet_{2};
  FleetServer& a_ = fleet_[0];
  FleetServer& b_ = fleet_[1];
};

TEST_F(FleetImagesTest, WatchersHearOfALaterRevisionAndOfNoEnd) {
  fleet_.Update(b_, BlockedAt(0));
  fleet_.Settle();
  const PinnedSnapshot before = b_.Pin();
  for (int x = 1; x < 4; ++x) {
    fleet_.Update(a_, BlockedAt(x));
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
  fleet_.Update(a_, BlockedAt(4));
  fleet_.Settle();
  fleet_.Update(b_, BlockedAt(5));
  fleet_.Settle();
  EXPECT_THAT(b_.answers, ElementsAre("0: 2", "1: 7"));
  EXPECT_THAT(b_.store.ReadHistory("arena", 6, 100)->commits, SizeIs(2));
  EXPECT_EQ(a_.Pin()->digest(), b_.Pin()->digest());
}

TEST_F(FleetImagesTest, WhatWasOnItsWayIsTriedAgain) {
  fleet_.Update(a_, BlockedAt(0, "x"));
  StepAll(a_);
  fleet_.Update(b_, BlockedAt(0, "x"));
  fleet_.Update(b_, BlockedAt(1, "y"));
  ASSERT_TRUE(Skip());
  fleet_.Settle();
  EXPECT_THAT(b_.answers, ElementsAre("0: 2 again", "1: 3"));
  fleet_.Update(a_, BlockedAt(1, "y"));
  EXPECT_THAT(a_.answers, ElementsAre("0: 2", "1: 3 again"));
  EXPECT_EQ(a_.Pin()->digest(), b_.Pin()->digest());
}

TEST_F(FleetImagesTest, LifetimesAreThoseOfTheImage) {
  const auto put = [](const std::string& id, int x, absl::Duration lifetime) {
    return UpdateBatch{
        .edits = {PutObstacle{
            .obstacle = {.id = id, .shape = {.cells = {{x, 0}}}}, .lifetime = lifetime, .replace = true}}};
  };
  fleet_.Update(a_, put("door", 0, absl::Seconds(1)));
  fleet_.Settle();
  fleet_.Update(a_, put("door", 0, absl::Seconds(60)));
  fleet_.Update(a_, put("gate", 1, absl::Seconds(2)));
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
  EXPECT_THAT(image(1, 1, "lobby"), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  EXPECT_THAT(b_.listener.heard(), SizeIs(0));
  fleet_.Update(b_, BlockedAt(0));
  fleet_.ExpectAgreement();
}

// In any order of steps, batches are applied once, and servers that skip entries have what the others have.
TEST(FleetImagesRandomTest, ServersThatSkipAgreeWithTheOthers) {
  std::uint64_t skips = 0;
  for (std::uint64_t seed = 0; seed < Rounds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Fleet fleet(3, seed, {std::string(64, '.')}, {.max_fold_batches = 3});
    int sent = 0;
    const auto any = [&] { return static_cast<std::size_t>(random.Between(0, 2)); };
    for (int i = 0; i < 150; ++i) {
      FleetServer& server = fleet[any()];
      if (random.Chance(0.3) && sent < 64) {
        fleet.Update(server, BlockedAt(sent, absl::StrCat("r", sent)));
        ++sent;
      } else if (random.Chance(0.2)) {
        skips += server.client.Skip(*fleet[any()].store.Store("arena")) ? 1 : 0;
      } else {
        server.client.Step();
      }
    }
    fleet.Settle();
    std::size_t answers = 0;
    for (std::size_t i = 0; i < fleet.size(); ++i) {
      EXPECT_EQ(fleet[i].Pin()->version(), fleet[0].Pin()->version());
      EXPECT_EQ(fleet[i].Pin()->digest(), fleet[0].Pin()->digest());
      EXPECT_THAT(fleet[i].store.Store("arena")->requests, SizeIs(static_cast<std::size_t>(sent)));
      answers += fleet[i].answers.size();
      std::uint64_t last = 1;
      for (const RecordingListener::Heard& heard : fleet[i].listener.heard()) {
        EXPECT_FALSE(heard.is_deletion);
        EXPECT_GT(heard.revision, last);
        EXPECT_TRUE(heard.commits.empty() || heard.commits.front() == last + 1);
        last = heard.revision;
      }
    }
    EXPECT_EQ(answers, static_cast<std::size_t>(sent));
    EXPECT_EQ(fleet[0].Pin()->revision, static_cast<std::uint64_t>(sent) + 1);
    EXPECT_EQ(fleet[0].Pin()->grid().obstacle_cells(), sent);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
  EXPECT_GT(skips, Rounds(100));
}

}  // namespace
}  // namespace waystar::core
