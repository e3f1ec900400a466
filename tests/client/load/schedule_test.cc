#include "client/load/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace waystar::load {
namespace {

Time DueAfter(Schedule schedule, int times) {
  for (int i = 0; i < times; ++i) {
    schedule.Next();
  }
  return schedule.due();
}

TEST(ScheduleTest, NoRoundingAddsUp) {
  const Time begin = Clock::now();
  const Schedule schedule = Schedule::Even(begin, 3);
  EXPECT_EQ(schedule.due(), begin);
  EXPECT_EQ(DueAfter(schedule, 1) - begin, Nanos(333'333'333));
  EXPECT_EQ(DueAfter(schedule, 2) - begin, Nanos(666'666'667));
  EXPECT_EQ(DueAfter(schedule, 3'000'000) - begin, std::chrono::seconds(1'000'000));
}

TEST(ScheduleTest, LanesTakeTurns) {
  const Time begin = Clock::now();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(DueAfter(Schedule::Even(begin, 100, i % 3, 3), i / 3), DueAfter(Schedule::Even(begin, 100), i));
  }
}

TEST(ScheduleTest, RandomTimesHaveTheRateAndTheSpreadOfAPoissonProcess) {
  const Time begin = Clock::now();
  Schedule schedule = Schedule::Random(begin, 1000, 7);
  constexpr int kTimes = 100'000;
  double sum = 0;
  double squares = 0;
  Time before = begin;
  for (int i = 0; i < kTimes; ++i, schedule.Next()) {
    ASSERT_GE(schedule.due(), before);
    const double gap = std::chrono::duration<double, std::milli>(schedule.due() - before).count();
    sum += gap;
    squares += gap * gap;
    before = schedule.due();
  }
  const double mean = sum / kTimes;
  EXPECT_NEAR(mean, 1, 0.02);
  // As large as the mean: that is what tells it from even distances.
  EXPECT_NEAR(std::sqrt(squares / kTimes - mean * mean), 1, 0.03);
}

TEST(ScheduleTest, TheSameSeedGivesTheSameTimes) {
  const Time begin = Clock::now();
  EXPECT_EQ(DueAfter(Schedule::Random(begin, 10, 3), 5), DueAfter(Schedule::Random(begin, 10, 3), 5));
  EXPECT_NE(DueAfter(Schedule::Random(begin, 10, 3), 5), DueAfter(Schedule::Random(begin, 10, 4), 5));
}

}  // namespace
}  // namespace waystar::load
