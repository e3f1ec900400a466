#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::FakeClock;
using ::waystar::testing::IsOk;
using ::waystar::testing::RecordingListener;

Edit Put(const std::string& id, int x, std::optional<absl::Duration> lifetime) {
  return PutObstacle{
      .obstacle = {.id = id, .shape = {.cells = {{x, 0}}}}, .lifetime = lifetime, .replace = true};
}

class ExpiryTest : public ::testing::Test {
 protected:
  ExpiryTest() {
    store_.AddListener(&listener_);
    store_.OnEarlierExpiry([this](absl::Time expiry) { told_.push_back(expiry - kBegin); });
    EXPECT_THAT(store_.Create("arena", DrawMap({"....."}), clock_.Now()), IsOk());
  }

  void Update(std::vector<Edit> edits) {
    EXPECT_THAT(store_.UpdateAndWait("arena", {.edits = std::move(edits)}), IsOk());
  }

  // Moves the clock on, and returns when to come again.
  absl::Duration ExpireAfter(absl::Duration time) {
    clock_.Advance(time);
    return store_.ExpireDue(clock_.Now()) - kBegin;
  }

  std::string Drawn() { return DrawPath((*store_.Pin("arena"))->grid(), {})[0]; }

  FakeClock clock_;
  const absl::Time kBegin = clock_.Now();
  RecordingListener listener_;
  std::vector<absl::Duration> told_;
  MapStore store_{{.clock = &clock_}};
};

TEST_F(ExpiryTest, ObstacleGoesAtTheEndOfItsLifetime) {
  Update({Put("a", 1, absl::Seconds(10)), Put("b", 3, std::nullopt)});
  EXPECT_THAT(told_, ElementsAre(absl::Seconds(10)));
  EXPECT_EQ(ExpireAfter(absl::Seconds(9)), absl::Seconds(10));
  EXPECT_EQ(Drawn(), ".#.#.");
  EXPECT_EQ(ExpireAfter(absl::Seconds(1)), absl::InfiniteDuration());
  EXPECT_EQ(Drawn(), "...#.");
  // A revision like any other.
  ASSERT_THAT(listener_.heard(), SizeIs(2));
  EXPECT_EQ(listener_.heard()[1].revision, 3U);
  const History history = *store_.ReadHistory("arena", 3, 1);
  EXPECT_EQ(history.commits[0]->edits, std::vector<Edit>{RemoveObstacle{"a"}});
  EXPECT_EQ(history.commits[0]->time, clock_.Now());
}

TEST_F(ExpiryTest, AMapMayBeCreatedWithObstaclesThatExpire) {
  const GridMap map =
      ApplyEdits(DrawMap({"....."}), std::vector<Edit>{Put("a", 1, absl::Seconds(10))}, clock_.Now())->map;
  ASSERT_THAT(store_.Create("copy", map, clock_.Now()), IsOk());
  EXPECT_THAT(told_, ElementsAre(absl::Seconds(10)));
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ(DrawPath((*store_.Pin("copy"))->grid(), {})[0], ".....");
}

TEST_F(ExpiryTest, WhoeverBeginsToListenIsToldOfMapsThatAreThere) {
  MapStore store({.clock = &clock_});
  for (const int lifetime : {20, 10}) {
    const std::vector<Edit> edits = {Put("a", 1, absl::Seconds(lifetime))};
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
  Update({Put("a", 1, absl::Seconds(10))});
  Update({Put("b", 2, absl::Seconds(20))});
  Update({Put("c", 3, absl::Seconds(5))});
  EXPECT_THAT(told_, ElementsAre(absl::Seconds(10), absl::Seconds(5)));
}

TEST_F(ExpiryTest, PuttingItAgainGivesItMoreTime) {
  Update({Put("a", 1, absl::Seconds(10))});
  EXPECT_EQ(ExpireAfter(absl::Seconds(8)), absl::Seconds(10));
  Update({Put("a", 1, absl::Seconds(10))});
  EXPECT_EQ(ExpireAfter(absl::Seconds(2)), absl::Seconds(18));
  EXPECT_EQ(Drawn(), ".#...");
  EXPECT_EQ(ExpireAfter(absl::Seconds(8)), absl::InfiniteDuration());
  EXPECT_EQ(Drawn(), ".....");
}

TEST_F(ExpiryTest, MovingItDoesNot) {
  Update({Put("a", 1, absl::Seconds(10))});
  clock_.Advance(absl::Seconds(5));
  Update({MoveObstacle{.id = "a", .dx = 2.0}});
  EXPECT_EQ(Drawn(), "...#.");
  ExpireAfter(absl::Seconds(5));
  EXPECT_EQ(Drawn(), ".....");
}

TEST_F(ExpiryTest, RemovedObstacleExpiresNoMore) {
  Update({Put("a", 1, absl::Seconds(10))});
  Update({RemoveObstacle{"a"}});
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
  EXPECT_EQ((*store_.Pin("arena"))->revision, 3U);
}

TEST_F(ExpiryTest, WhatWaitsBeforeItCounts) {
  Update({Put("a", 1, absl::Seconds(10)), Put("b", 3, absl::Seconds(10))});
  clock_.Advance(absl::Seconds(10));
  store_.Update("arena", {.edits = {Put("c", 4, std::nullopt)}}, [&](const absl::StatusOr<UpdateResult>&) {
    store_.Update("arena", {.edits = {Put("a", 1, absl::Seconds(10))}}, [](const auto&) {});
    store_.ExpireDue(clock_.Now());
    store_.ExpireDue(clock_.Now());
  });
  EXPECT_EQ(Drawn(), ".#..#");
  EXPECT_EQ(told_.back(), absl::Seconds(20));
  EXPECT_EQ((*store_.Pin("arena"))->revision, 5U);
}

TEST_F(ExpiryTest, MapsThatAreGoneExpireNothing) {
  Update({Put("a", 1, absl::Seconds(10))});
  EXPECT_THAT(store_.Delete("arena"), IsOk());
  EXPECT_EQ(ExpireAfter(absl::Seconds(10)), absl::InfiniteDuration());
}

}  // namespace
}  // namespace waystar::core
