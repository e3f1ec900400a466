#include "server/base/thread.h"

#include <array>
#include <atomic>
#include <string>

#include "gtest/gtest.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

TEST(ThreadTest, HasItsName) {
  std::array<char, 16> name{};
  StartThread("index-builder", [&] { pthread_getname_np(pthread_self(), name.data(), name.size()); }).join();
  EXPECT_STREQ(name.data(), "index-builder");
}

TEST(PeriodicThreadTest, RunsAgainAndAgainUntilItIsStopped) {
  std::atomic<int> runs = 0;
  PeriodicThread thread;
  thread.Start("test", absl::Microseconds(1), [&] { ++runs; });
  EXPECT_TRUE(WaitUntil([&] { return runs >= 3; }, "three runs"));
  thread.Stop();
  const int before = runs;
  thread.Stop();
  EXPECT_EQ(runs, before);
}

TEST(PeriodicThreadTest, StopsWithinItsPeriod) {
  PeriodicThread thread;
  thread.Start("test", absl::Hours(1), [] { ADD_FAILURE() << "the period is not over"; });
  thread.Stop();
}

TEST(PeriodicThreadTest, NeedNotBeStarted) {
  PeriodicThread thread;
  thread.Stop();
}

}  // namespace
}  // namespace waystar
