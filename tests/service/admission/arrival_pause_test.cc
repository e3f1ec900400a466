#include "server/service/admission/arrival_pause.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::waystar::testing::Event;

constexpr ArrivalPause::Duration kPause = milliseconds(2);

// Has the calling thread go to sleep once, as it does when there is no call to take in.
void WaitForACall() {
  const std::int64_t before = ThreadWaits();
  while (ThreadWaits() == before) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

TEST(ArrivalPauseTest, IsDueForAWhileAfterARefusal) {
  ArrivalPause pause(kPause);
  const ArrivalPause::Clock::time_point now{std::chrono::hours(1)};
  EXPECT_FALSE(pause.IsDue(now));
  pause.NoteRefusal(now);
  EXPECT_TRUE(pause.IsDue(now));
  EXPECT_TRUE(pause.IsDue(now + ArrivalPause::kRecently / 2));
  EXPECT_FALSE(pause.IsDue(now + ArrivalPause::kRecently));
}

TEST(ArrivalPauseTest, AThreadThatDidNotHaveToWaitGoesOn) {
  std::vector<ArrivalPause::Duration> pauses;
  ArrivalPause pause(kPause, [&](ArrivalPause::Duration duration) { pauses.push_back(duration); });
  WaitForACall();
  pause.OnNextTurn();
  pause.OnNextTurn();
  EXPECT_THAT(pauses, ElementsAre(ArrivalPause::kAway));
  WaitForACall();
  pause.OnNextTurn();
  EXPECT_THAT(pauses, ElementsAre(ArrivalPause::kAway, ArrivalPause::kAway));
}

TEST(ArrivalPauseTest, OneThreadStaysAwayWhileOthersPause) {
  Event is_away("the thread that stays away");
  Event may_return("leave to return");
  Mutex mutex;
  std::vector<ArrivalPause::Duration> short_pauses;
  ArrivalPause pause(kPause, [&](ArrivalPause::Duration duration) {
    if (duration == ArrivalPause::kAway) {
      is_away.Happen();
      may_return.Wait();
    } else {
      MutexLock lock(mutex);
      short_pauses.push_back(duration);
    }
  });
  std::thread away([&] {
    WaitForACall();
    pause.OnNextTurn();
  });
  is_away.Wait();
  for (int i = 0; i < 3; ++i) {
    WaitForACall();
    pause.OnNextTurn();
  }
  may_return.Happen();
  away.join();
  EXPECT_THAT(short_pauses, ElementsAre(kPause, kPause, kPause));
}

TEST(ArrivalPauseTest, EndsAfterTheLastPause) {
  Event pauses("the pause");
  Event may_return("leave to return");
  std::atomic<bool> has_ended = false;
  auto pause = std::make_unique<ArrivalPause>(kPause, [&](ArrivalPause::Duration /*duration*/) {
    pauses.Happen();
    may_return.Wait();
    EXPECT_FALSE(has_ended);
  });
  std::thread thread([&] {
    WaitForACall();
    pause->OnNextTurn();
  });
  pauses.Wait();
  std::thread end([&] {
    pause.reset();
    has_ended = true;
  });
  may_return.Happen();
  end.join();
  thread.join();
}

}  // namespace
}  // namespace waystar::rpc
