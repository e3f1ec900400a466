#include "server/storage/fleet/newest_known.h"

#include <chrono>
#include <optional>

#include "gtest/gtest.h"

namespace waystar::cluster {
namespace {

using TimePoint = NewestKnown::TimePoint;

TimePoint At(int seconds) { return TimePoint() + std::chrono::seconds(seconds); }

TEST(NewestKnownTest, AServerIsAsNewAsTheLastAnswerThatItHasFollowed) {
  NewestKnown newest;
  EXPECT_EQ(newest.Reach(100), std::nullopt);
  newest.Note(At(1), 10);
  EXPECT_EQ(newest.Reach(10), At(1));
  // The same revision proves nothing of later times.
  EXPECT_EQ(newest.Reach(10), std::nullopt);
  newest.Note(At(2), 10);
  newest.Note(At(3), 20);
  newest.Note(At(4), 30);
  EXPECT_EQ(newest.Reach(19), At(2));
  EXPECT_EQ(newest.Reach(19), std::nullopt);
  EXPECT_EQ(newest.Reach(30), At(4));
}

TEST(NewestKnownTest, ABacklogIsAsOldAsItsOldestPart) {
  NewestKnown newest;
  for (int second = 0; second < 10'000; ++second) {
    newest.Note(At(second), second);
  }
  EXPECT_EQ(newest.Reach(58), At(58));
  EXPECT_EQ(newest.Reach(59), At(59));
}

}  // namespace
}  // namespace waystar::cluster
