#include "client/load/schedule.h"

#include <gtest/gtest.h>

namespace waystar::load {
namespace {

TEST(ScheduleTest, NoRoundingAddsUp) {
  const Time begin = Clock::now();
  const Schedule schedule(begin, 3);
  EXPECT_EQ(schedule.DueAt(0), begin);
  EXPECT_EQ(schedule.DueAt(1) - begin, Nanos(333'333'333));
  EXPECT_EQ(schedule.DueAt(2) - begin, Nanos(666'666'667));
  EXPECT_EQ(schedule.DueAt(3'000'000) - begin, std::chrono::seconds(1'000'000));
}

TEST(ScheduleTest, CountsWhatIsDueBefore) {
  const Time begin = Clock::now();
  for (const double rate : {0.25, 1.0, 3.0, 7.7, 1e5, 333'333.3}) {
    const Schedule schedule(begin, rate);
    for (const Nanos time :
         {Nanos(0), Nanos(1), Nanos(999'999'999), Nanos(4'000'000'000), Nanos(4'000'000'001)}) {
      const std::uint64_t count = schedule.CountBefore(begin + time);
      EXPECT_GE(schedule.DueAt(count), begin + time) << rate;
      if (count > 0) {
        EXPECT_LT(schedule.DueAt(count - 1), begin + time) << rate;
      }
    }
  }
  EXPECT_EQ(Schedule(begin, 5).CountBefore(begin - Nanos(1)), 0);
}

}  // namespace
}  // namespace waystar::load
