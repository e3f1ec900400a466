#include "server/maintenance/obstacle_expirer.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/base/mutex.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"

namespace waystar::maintenance {
namespace {

using ::testing::ElementsAre;

// Writes down what was removed, and when on the clock.
class Removals final : public core::StoreListener {
 public:
  using Removal = std::pair<std::string, absl::Time>;

  // The removals so far, once there are that many.
  std::vector<Removal> WaitFor(std::size_t count) {
    const Patience patience(absl::StrCat("removal ", count));
    MutexLock lock(mutex_);
    while (removals_.size() < count && patience.Wait(is_more_, mutex_)) {
    }
    return removals_;
  }

  void OnCommit(const core::PinnedSnapshot& /*snapshot*/, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& /*changes*/) override {
    MutexLock lock(mutex_);
    for (const core::CommitPtr& commit : commits) {
      for (const core::Edit& edit : commit->edits) {
        if (const auto* removal = std::get_if<core::RemoveObstacle>(&edit)) {
          removals_.emplace_back(removal->id, commit->time);
        }
      }
    }
    is_more_.NotifyAll();
  }

  void OnDelete(const core::PinnedSnapshot& /*last*/) override {}

 private:
  Mutex mutex_;
  CondVar is_more_;
  std::vector<Removal> removals_ ABSL_GUARDED_BY(mutex_);
};

core::Edit Put(const std::string& id, int x, absl::Duration lifetime) {
  return core::PutObstacle{.obstacle = {.id = id, .shape = {.cells = {{x, 0}}}}, .lifetime = lifetime};
}

class ObstacleExpirerTest : public ::testing::Test {
 protected:
  ObstacleExpirerTest() { store_.AddListener(&removals_); }

  void SetUp() override {
    keeper_.Start();
    ASSERT_THAT(store_.Create("arena", DrawMap({"....."}), clock_.Now()), IsOk());
  }

  void Update(const std::string& map, std::vector<core::Edit> edits) {
    ASSERT_THAT(store_.UpdateAndWait(map, {.edits = std::move(edits)}), IsOk());
  }

  // What is due then is removed without anybody asking.
  void Jump(absl::Duration by) {
    clock_.Advance(by);
    keeper_.Wake();
  }

  std::size_t Obstacles() { return (*store_.Pin("arena"))->grid().obstacles().size(); }

  FakeClock clock_;
  const absl::Time begin_ = clock_.Now();
  Removals removals_;
  core::MapStore store_{{.clock = &clock_}};
  ObstacleExpirer keeper_{store_, clock_};
};

TEST_F(ObstacleExpirerTest, ObstaclesOfAllMapsEndInTheOrderOfTheirTimes) {
  const absl::Duration unit = absl::Minutes(10);
  ASSERT_THAT(store_.Create("other", DrawMap({"....."}), clock_.Now()), IsOk());
  Update("arena", {Put("third", 1, 3 * unit), Put("first", 2, unit)});
  Update("other", {Put("second", 3, 2 * unit)});
  Jump(unit);
  EXPECT_THAT(removals_.WaitFor(1), ElementsAre(Removals::Removal("first", begin_ + unit)));
  EXPECT_EQ(Obstacles(), 1U);
  Jump(unit);
  EXPECT_EQ(removals_.WaitFor(2).back(), Removals::Removal("second", begin_ + 2 * unit));
  Jump(unit);
  EXPECT_EQ(removals_.WaitFor(3).back(), Removals::Removal("third", begin_ + 3 * unit));
  EXPECT_EQ(Obstacles(), 0U);
}

// It would sleep for an hour. The millisecond it is to sleep instead passes on any machine, and again until
// the clock has moved.
TEST_F(ObstacleExpirerTest, EarlierExpiryThatComesLaterWakesIt) {
  Update("arena", {Put("late", 1, absl::Hours(1)), Put("before", 2, absl::Milliseconds(1))});
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(removals_.WaitFor(1).back().first, "before");
  Update("arena", {Put("soon", 3, absl::Milliseconds(1))});
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(removals_.WaitFor(2).back().first, "soon");
  EXPECT_EQ(Obstacles(), 1U);
}

// An hour before there is anything to do, and with nothing to do at all.
TEST_F(ObstacleExpirerTest, StopEndsTheWaitAtOnce) {
  Update("arena", {Put("a", 1, absl::Hours(1))});
  ExpectReturns([&] { keeper_.Stop(); }, "Stop");
  Jump(absl::Hours(2));
  EXPECT_EQ(Obstacles(), 1U);
  keeper_.Stop();

  core::MapStore idle_store(1);
  ObstacleExpirer idle(idle_store, clock_);
  idle.Start();
  ExpectReturns([&] { idle.Stop(); }, "Stop");
}

// What happens before a log is set would not be in the log.
TEST_F(ObstacleExpirerTest, RemovesNothingBeforeItsStart) {
  core::MapStore store({.clock = &clock_});
  Removals removals;
  store.AddListener(&removals);
  ObstacleExpirer expirer(store, clock_);
  ASSERT_THAT(store.Create("arena", DrawMap({"....."}), clock_.Now()), IsOk());
  ASSERT_THAT(store.UpdateAndWait("arena", {.edits = {Put("a", 1, absl::Hours(1))}}), IsOk());
  clock_.Advance(absl::Hours(2));
  expirer.Wake();
  EXPECT_EQ((*store.Pin("arena"))->grid().obstacles().size(), 1U);
  expirer.Start();
  EXPECT_EQ(removals.WaitFor(1).back().first, "a");
}

}  // namespace
}  // namespace waystar::maintenance
