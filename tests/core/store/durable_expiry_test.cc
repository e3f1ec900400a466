// Obstacles that expire in a store with a durable log.

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DurableExpiryTest : public HeldStoreTest {
 protected:
  void Put(const std::string& id, int x, absl::Duration lifetime) {
    Update(
        {.edits = {PutObstacle{
             .obstacle = {.id = id, .shape = {.cells = {{x, 0}}}}, .lifetime = lifetime, .replace = true}}});
  }
  void Remove(const std::string& id) { Update({.edits = {RemoveObstacle{id}}}); }

  // Moves the clock on, and returns when to come again.
  absl::Duration ExpireAfter(absl::Duration time) {
    clock_.Advance(time);
    return store_.ExpireDue(clock_.Now()) - kBegin;
  }
  std::vector<absl::Duration> TakeTold() { return std::exchange(told_, {}); }
};

TEST_F(DurableExpiryTest, RemovalsGoThroughTheLog) {
  Put("a", 1, absl::Seconds(10));
  EXPECT_THAT(told_, IsEmpty());
  log_.LandAll();
  EXPECT_THAT(TakeTold(), ElementsAre(absl::Seconds(10)));
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(Drawn(), ".#......");
  log_.LandAll();
  EXPECT_EQ(Drawn(), "........");
  EXPECT_EQ(log_.durable().back().commits.at(0).commit->edits, std::vector<Edit>{RemoveObstacle{"a"}});
}

TEST_F(DurableExpiryTest, ARemovalMayFollowWhatIsInFlight) {
  Put("a", 1, absl::Seconds(10));
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(log_.waiting(), 2U);
  log_.LandAll();
  EXPECT_EQ(Drawn(), "........");
  EXPECT_EQ(Revision(), 3U);
}

TEST_F(DurableExpiryTest, LostRemovalsAreTriedAgainAfterAWhile) {
  Put("a", 1, absl::Seconds(10));
  Put("b", 2, absl::Seconds(60));
  log_.LandAll();
  TakeTold();
  ExpireAfter(absl::Seconds(10));
  log_.FailNext();
  EXPECT_THAT(TakeTold(), ElementsAre(absl::Seconds(11)));
  // Not at once: the log needs time.
  EXPECT_EQ(store_.ExpireDue(clock_.Now()) - kBegin, absl::Seconds(11));
  EXPECT_EQ(log_.waiting(), 0U);
  EXPECT_EQ(Drawn(), ".##.....");
  EXPECT_EQ(ExpireAfter(absl::Seconds(1)), absl::Seconds(60));
  log_.LandAll();
  EXPECT_EQ(Drawn(), "..#.....");
  EXPECT_THAT(TakeTold(), ElementsAre(absl::Seconds(60)));
}

TEST_F(DurableExpiryTest, AnUpdateBringsThemForward) {
  Put("a", 1, absl::Seconds(10));
  log_.LandAll();
  ExpireAfter(absl::Seconds(10));
  log_.FailNext();
  TakeTold();
  Update(5);
  log_.LandAll();
  EXPECT_THAT(TakeTold(), ElementsAre(absl::Seconds(10)));
  ExpireAfter(absl::ZeroDuration());
  log_.LandAll();
  EXPECT_EQ(Drawn(), ".....#..");
}

TEST_F(DurableExpiryTest, LostObstaclesDoNotExpire) {
  Put("a", 1, absl::Seconds(10));
  log_.FailNext();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(log_.appends(), 1U);
}

TEST_F(DurableExpiryTest, ObstaclesThatWereRemovedByALostUpdateExpire) {
  Put("a", 1, absl::Seconds(10));
  log_.LandAll();
  Remove("a");
  EXPECT_EQ(ExpireAfter(absl::Seconds(5)), absl::InfiniteDuration());
  TakeTold();
  log_.FailNext();
  // Nobody expects it any more.
  EXPECT_THAT(TakeTold(), ElementsAre(absl::Seconds(10)));
  ExpireAfter(absl::Seconds(5));
  log_.LandAll();
  EXPECT_EQ(Drawn(), "........");
}

TEST_F(DurableExpiryTest, ObstaclesThatALostUpdateGaveMoreTimeExpireAsBefore) {
  Put("a", 1, absl::Seconds(10));
  log_.LandAll();
  Put("a", 1, absl::Seconds(30));
  Put("a", 1, absl::Seconds(40));
  TakeTold();
  log_.FailNext();
  EXPECT_THAT(TakeTold(), IsEmpty());
  log_.LandAll();
  EXPECT_THAT(TakeTold(), ElementsAre(absl::Seconds(10)));
}

TEST_F(DurableExpiryTest, RemovalsWaitForRoomInTheLog) {
  Put("a", 1, absl::Seconds(10));
  for (int i = 0; i < 15; ++i) {
    Update(5);
  }
  EXPECT_EQ(log_.waiting(), 2U);
  ExpireAfter(absl::Seconds(10));
  ExpireAfter(absl::Seconds(10));
  EXPECT_EQ(log_.waiting(), 2U);
  log_.LandAll();
  EXPECT_EQ(Drawn(), ".....#..");
  EXPECT_EQ(log_.appends(), 3U);
}

TEST_F(DurableExpiryTest, MoreThanABatchIsRemovedInSeveral) {
  UpdateBatch batch;
  for (int i = 0; i < 2500; ++i) {
    batch.edits.emplace_back(
        PutObstacle{.obstacle = {.id = absl::StrCat("crate-", i), .shape = {.cells = {{1, 1}}}},
                    .lifetime = absl::Seconds(10)});
  }
  Update(std::move(batch));
  log_.LandAll();
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(log_.waiting(), 2U);
  log_.LandNext();
  EXPECT_EQ(log_.waiting(), 2U);
  log_.FailNext();
  log_.LandAll();
  EXPECT_EQ((*store_.Pin("arena"))->obstacles().size(), 1500U);
  EXPECT_EQ(ExpireAfter(absl::Seconds(1)), absl::InfiniteDuration());
  log_.LandAll();
  EXPECT_EQ((*store_.Pin("arena"))->obstacles().size(), 0U);
}

// Whether the leader still composes upon the removal when it is lost, or has been told: it is not forgotten.
TEST_F(DurableExpiryTest, LossWhileTheLeaderComposesForgetsNoExpiry) {
  for (int round = 0; round < 50; ++round) {
    Put("a", 1, absl::Seconds(10));
    log_.LandAll();
    ExpireAfter(absl::Seconds(10));
    std::thread thread([&] { log_.FailNext(); });
    Update(9);
    thread.join();
    ExpireAfter(absl::Seconds(1));
    log_.LandAll();
    ASSERT_EQ(Drawn(), "........") << round;
  }
}

}  // namespace
}  // namespace waystar::core
