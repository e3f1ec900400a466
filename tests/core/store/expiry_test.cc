#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/store/lifetimes.h"
#include "tests/core/store/held_store.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

Edit PutFor(const std::string& id, std::optional<int> seconds) {
  PutObstacle put;
  put.obstacle.id = id;
  if (seconds) {
    put.lifetime = absl::Seconds(*seconds);
  }
  return put;
}

std::vector<std::string> Take(Lifetimes& lifetimes, int seconds, std::size_t max = 100) {
  std::vector<std::string> ids;
  for (const Edit& edit : lifetimes.TakeRemovalsDue(kStart + absl::Seconds(seconds), max)) {
    ids.push_back(std::get<RemoveObstacle>(edit).id);
  }
  return ids;
}

TEST(LifetimesTest, RemovesInTheOrderOfExpiry) {
  Lifetimes lifetimes;
  lifetimes.Follow({PutFor("b", 20), PutFor("a", 10), PutFor("stays", std::nullopt), PutFor("c", 30)},
                   kStart);
  EXPECT_EQ(lifetimes.next(), kStart + absl::Seconds(10));
  EXPECT_THAT(Take(lifetimes, 9), IsEmpty());
  EXPECT_THAT(Take(lifetimes, 20), ElementsAre("a", "b"));
  EXPECT_EQ(lifetimes.next(), kStart + absl::Seconds(30));
  EXPECT_THAT(Take(lifetimes, 1000), ElementsAre("c"));
  EXPECT_EQ(lifetimes.next(), absl::InfiniteFuture());
}

TEST(LifetimesTest, PuttingAgainBeginsAgain) {
  Lifetimes lifetimes;
  lifetimes.Follow({PutFor("a", 10), PutFor("b", 10), PutFor("c", 10)}, kStart);
  lifetimes.Follow({PutFor("a", 10), PutFor("b", std::nullopt)}, kStart + absl::Seconds(5));
  EXPECT_THAT(Take(lifetimes, 10), ElementsAre("c"));
  EXPECT_THAT(Take(lifetimes, 15), ElementsAre("a"));
  EXPECT_EQ(lifetimes.next(), absl::InfiniteFuture());
}

TEST(LifetimesTest, OnlyPuttingAndRemovingConcernThem) {
  Lifetimes lifetimes;
  lifetimes.Follow({PutFor("a", 10), PutFor("b", 10), PutFor("a b", 10)}, kStart);
  lifetimes.Follow({RemoveObstacle{"a"}, MoveObstacle{.id = "b", .dx = 1.0}, ResizeObstacle{.id = "b"},
                    RemoveObstacle{"unknown"}},
                   kStart + absl::Seconds(5));
  EXPECT_THAT(Take(lifetimes, 10), ElementsAre("a b", "b"));
}

using ExpiryTest = StoreTest;

TEST_F(ExpiryTest, ObstacleGoesAtTheEndOfItsLifetime) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
  Update(PutBatch("b", 3, std::nullopt));
  EXPECT_THAT(told_, ElementsAre(absl::Seconds(10)));
  EXPECT_EQ(ExpireAfter(absl::Seconds(9)), absl::Seconds(10));
  EXPECT_EQ(Drawn(), ".#.#....");
  EXPECT_EQ(ExpireAfter(absl::Seconds(1)), absl::InfiniteDuration());
  EXPECT_EQ(Drawn(), "...#....");
  // A revision like any other.
  ASSERT_THAT(listener_.heard(), SizeIs(3));
  EXPECT_EQ(listener_.heard()[2].revision, 4U);
  const History history = *store_.ReadHistory("arena", 4, 1);
  EXPECT_EQ(history.commits[0]->edits, std::vector<Edit>{RemoveObstacle{"a"}});
  EXPECT_EQ(history.commits[0]->time, clock_.Now());
}

TEST_F(ExpiryTest, AMapMayBeCreatedWithObstaclesThatExpire) {
  const GridMap map =
      ApplyEdits(DrawMap({"....."}), PutBatch("a", 1, absl::Seconds(10)).edits, clock_.Now())->map;
  ASSERT_THAT(store_.Create("copy", map, clock_.Now()), IsOk());
  EXPECT_THAT(told_, ElementsAre(absl::Seconds(10)));
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(DrawPath((*store_.Pin("copy"))->grid(), {})[0], ".....");
}

TEST_F(ExpiryTest, WhoeverBeginsToListenIsToldOfMapsThatAreThere) {
  MapStore store({.clock = &clock_});
  for (const int lifetime : {20, 10}) {
    const std::vector<Edit> edits = PutBatch("a", 1, absl::Seconds(lifetime)).edits;
    ASSERT_THAT(
        store.Restore({.snapshot = {.id = absl::StrCat("map-", lifetime),
                                    .epoch = 1,
                                    .map = ApplyEdits(DrawMap({"....."}), edits, clock_.Now())->map}}),
        IsOk());
  }
  store.OnEarlierExpiry([this](absl::Time expiry) { told_.push_back(expiry - kBegin); });
  EXPECT_THAT(told_, ElementsAre(absl::Seconds(10)));
}

TEST_F(ExpiryTest, OnlyEarlierExpiriesAreToldOf) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
  Update(PutBatch("b", 2, absl::Seconds(20)));
  Update(PutBatch("c", 3, absl::Seconds(5)));
  EXPECT_THAT(told_, ElementsAre(absl::Seconds(10), absl::Seconds(5)));
}

TEST_F(ExpiryTest, WhatWaitsBeforeItCounts) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
  Update(PutBatch("b", 3, absl::Seconds(10)));
  clock_.Advance(absl::Seconds(10));
  store_.Update("arena", PutBatch("c", 4, std::nullopt), [&](const absl::StatusOr<UpdateResult>&) {
    store_.Update("arena", PutBatch("a", 1, absl::Seconds(10)), [](const auto&) {});
    store_.ExpireDue(clock_.Now());
    store_.ExpireDue(clock_.Now());
  });
  EXPECT_EQ(Drawn(), ".#..#...");
  EXPECT_EQ(told_.back(), absl::Seconds(20));
  EXPECT_EQ(Revision(), 6U);
}

TEST_F(ExpiryTest, MapsThatAreGoneExpireNothing) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
  EXPECT_THAT(store_.Delete("arena"), IsOk());
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
}

using DurableExpiryTest = HeldStoreTest;

TEST_F(DurableExpiryTest, RemovalsGoThroughTheLog) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
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
  Update(PutBatch("a", 1, absl::Seconds(10)));
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(log_.waiting(), 2U);
  log_.LandAll();
  EXPECT_EQ(Drawn(), "........");
  EXPECT_EQ(Revision(), 3U);
}

TEST_F(DurableExpiryTest, LostRemovalsAreTriedAgainAfterAWhile) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
  Update(PutBatch("b", 2, absl::Seconds(60)));
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
  Update(PutBatch("a", 1, absl::Seconds(10)));
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
  Update(PutBatch("a", 1, absl::Seconds(10)));
  log_.FailNext();
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(log_.appends(), 1U);
}

TEST_F(DurableExpiryTest, ObstaclesThatWereRemovedByALostUpdateExpire) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
  log_.LandAll();
  Update({.edits = {RemoveObstacle{"a"}}});
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
  Update(PutBatch("a", 1, absl::Seconds(10)));
  log_.LandAll();
  Update(PutBatch("a", 1, absl::Seconds(30)));
  Update(PutBatch("a", 1, absl::Seconds(40)));
  TakeTold();
  log_.FailNext();
  EXPECT_THAT(TakeTold(), IsEmpty());
  log_.LandAll();
  EXPECT_THAT(TakeTold(), ElementsAre(absl::Seconds(10)));
}

TEST_F(DurableExpiryTest, RemovalsWaitForRoomInTheLog) {
  Update(PutBatch("a", 1, absl::Seconds(10)));
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
  EXPECT_EQ(Latest()->obstacles().size(), 1500U);
  EXPECT_EQ(ExpireAfter(absl::Seconds(1)), absl::InfiniteDuration());
  log_.LandAll();
  EXPECT_EQ(Latest()->obstacles().size(), 0U);
}

// An expiry is not forgotten if its append is lost, whether or not the leader still composes on top of it.
TEST_F(DurableExpiryTest, LossWhileTheLeaderComposesForgetsNoExpiry) {
  for (int round = 0; round < 50; ++round) {
    Update(PutBatch("a", 1, absl::Seconds(10)));
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
