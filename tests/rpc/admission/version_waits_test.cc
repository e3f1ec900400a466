#include "server/rpc/admission/version_waits.h"

#include <atomic>
#include <chrono>
#include <string>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/store/map_store.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::BlockBatch;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Event;
using ::waystar::testing::IsOk;

// Notes how its wait ended.
class Waiter final : public VersionWaits::Waiter {
 public:
  void OnVersion() override { End("version"); }
  void OnNoVersion() override { End("no version"); }

  // Returns "" while it waits.
  std::string how() {
    return over_.HasHappened() ? how_ : "";
  }
  bool WaitForEnd() { return over_.Wait(); }

 private:
  void End(const char* how) {
    EXPECT_FALSE(over_.HasHappened());
    how_ = how;
    over_.Happen();
  }

  std::string how_;
  Event over_{"the end of the wait"};
};

class VersionWaitsTest : public ::testing::Test {
 protected:
  VersionWaitsTest() {
    store_.AddListener(&waits_);
    for (const char* const map : {"arena", "yard"}) {
      EXPECT_THAT(store_.Create(map, DrawMap({"...."}), absl::UnixEpoch()), IsOk());
    }
  }

  void Begin(Waiter& waiter, std::uint64_t revision) { waits_.Begin(waiter, "arena", revision, kNever, gone_); }
  void Update(const std::string& map, int x) {
    ASSERT_THAT(store_.UpdateAndWait(map, BlockBatch({x, 0})), IsOk());
  }

  static constexpr VersionWaits::Clock::time_point kNever = VersionWaits::Clock::time_point::max();

  core::MapStore store_{2};
  VersionWaits waits_{store_};
  std::atomic<bool> gone_ = false;
};

TEST_F(VersionWaitsTest, EndWithTheRevisionOfTheirMap) {
  Waiter second;
  Waiter third;
  Begin(second, 2);
  Begin(third, 3);
  EXPECT_EQ(waits_.count(), 2U);
  Update("yard", 0);
  Update("yard", 1);
  EXPECT_EQ(second.how(), "");
  Update("arena", 0);
  EXPECT_EQ(second.how(), "version");
  EXPECT_EQ(third.how(), "");
  Update("arena", 1);
  EXPECT_EQ(third.how(), "version");
  EXPECT_EQ(waits_.count(), 0U);
}

TEST_F(VersionWaitsTest, AreOverAtOnceIfTheRevisionIsThereOrTheMapIsNot) {
  Waiter there;
  Begin(there, 1);
  EXPECT_EQ(there.how(), "version");
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  Waiter gone;
  Begin(gone, 7);
  EXPECT_EQ(gone.how(), "version");
  EXPECT_EQ(waits_.count(), 0U);
}

TEST_F(VersionWaitsTest, EndWithTheMap) {
  Waiter waiter;
  Begin(waiter, 9);
  ASSERT_THAT(store_.Delete("arena"), IsOk());
  EXPECT_EQ(waiter.how(), "version");
}

TEST_F(VersionWaitsTest, EndWhenTheyAreCancelledOrWereBefore) {
  Waiter waiter;
  waits_.Cancel(waiter);
  EXPECT_EQ(waiter.how(), "");
  Begin(waiter, 2);
  waits_.Cancel(waiter);
  EXPECT_EQ(waiter.how(), "no version");
  waits_.Cancel(waiter);
  Waiter late;
  gone_ = true;
  Begin(late, 2);
  EXPECT_EQ(late.how(), "no version");
  Update("arena", 0);
  EXPECT_EQ(waits_.count(), 0U);
}

TEST_F(VersionWaitsTest, EndInTimeInAnyOrder) {
  Waiter never;
  Waiter later;
  Waiter sooner;
  Begin(never, 2);
  const auto now = VersionWaits::Clock::now();
  waits_.Begin(later, "arena", 2, now + std::chrono::milliseconds(2), gone_);
  waits_.Begin(sooner, "yard", 2, now, gone_);
  EXPECT_TRUE(later.WaitForEnd());
  EXPECT_TRUE(sooner.WaitForEnd());
  EXPECT_EQ(later.how(), "no version");
  EXPECT_EQ(sooner.how(), "no version");
  EXPECT_EQ(never.how(), "");
  waits_.Stop();
  EXPECT_EQ(never.how(), "no version");
  Waiter after;
  Begin(after, 2);
  EXPECT_EQ(after.how(), "no version");
}

}  // namespace
}  // namespace waystar::rpc
