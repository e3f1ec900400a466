#include "server/base/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/base/thread.h"

namespace {

// How far the machine's wall clock is set back.
std::atomic<std::time_t> seconds_back = 0;

}  // namespace

// In the place of the C library's, for this program and the libraries that it uses.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) {
    time->tv_sec -= seconds_back;
  }
  return result;
}

namespace waystar {
namespace {

TEST(SteadyClockTest, BeginsAtTheWallTime) {
  const absl::Time before = absl::Now();
  const SteadyClock clock;
  const absl::Time now = clock.Now();
  EXPECT_GE(now, before - absl::Minutes(1));
  EXPECT_LE(now, absl::Now() + absl::Minutes(1));
  EXPECT_GE(clock.Now(), now);
}

TEST(SteadyClockTest, AdvancesToALaterTime) {
  SteadyClock clock;
  const absl::Time later = clock.Now() + absl::Hours(2);
  const absl::Duration by = clock.AdvanceTo(later);
  EXPECT_GT(by, absl::Hours(1));
  EXPECT_LE(by, absl::Hours(2));
  EXPECT_GE(clock.Now(), later);
  EXPECT_LT(clock.Now(), later + absl::Hours(1));
}

TEST(SteadyClockTest, NeverGoesBack) {
  SteadyClock clock;
  const absl::Time begin = clock.Now();
  clock.AdvanceTo(begin + absl::Hours(2));
  const absl::Time now = clock.Now();
  for (const absl::Time earlier : {absl::InfinitePast(), begin, begin + absl::Hours(1)}) {
    EXPECT_EQ(clock.AdvanceTo(earlier), absl::ZeroDuration());
    EXPECT_GE(clock.Now(), now);
  }
}

TEST(SteadyClockTest, GoesOnWhenTheMachinesClockIsSetBack) {
  const SteadyClock clock;
  const absl::Time wall = absl::Now();
  const absl::Time now = clock.Now();
  seconds_back = absl::ToInt64Seconds(absl::Hours(2));
  EXPECT_LT(absl::Now(), wall - absl::Hours(1));
  EXPECT_GE(clock.Now(), now);
  seconds_back = 0;
}

TEST(SteadyClockTest, LeavesOthersAlone) {
  SteadyClock clock;
  clock.AdvanceTo(clock.Now() + absl::Hours(2));
  EXPECT_LT(Clock::Steady().Now(), clock.Now() - absl::Hours(1));
}

TEST(SteadyClockTest, ManyThreadsAdvanceIt) {
  SteadyClock clock;
  const absl::Time begin = clock.Now();
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= 4; ++thread) {
    threads.push_back(StartThread("clock", [&clock, begin, thread] {
      for (int i = 1; i <= 1000; ++i) {
        const absl::Time time = begin + absl::Minutes(i * thread);
        clock.AdvanceTo(time);
        EXPECT_GE(clock.Now(), time);
      }
    }));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GE(clock.Now(), begin + absl::Minutes(4000));
  EXPECT_LT(clock.Now(), begin + absl::Minutes(4060));
}

}  // namespace
}  // namespace waystar
