// How far clocks are apart, and how old a server's state is.

#include <chrono>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/storage/fleet/newest_known.h"
#include "server/storage/fleet/presence.h"

namespace waystar::cluster {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

void NoteAhead(ClockOffsets& offsets, absl::string_view server, int seconds) {
  offsets.Note(server, kNow - absl::Seconds(seconds), kNow);
}

TEST(ClockOffsetsTest, OneWrongClockShowsAtItsOwnServer) {
  ClockOffsets offsets;
  EXPECT_EQ(offsets.Offset(), absl::ZeroDuration());
  NoteAhead(offsets, "a", 60);
  EXPECT_EQ(offsets.Offset(), absl::Seconds(60));
  NoteAhead(offsets, "b", 0);
  EXPECT_EQ(offsets.Offset(), absl::ZeroDuration());
  NoteAhead(offsets, "c", 1);
  EXPECT_EQ(offsets.Offset(), absl::Seconds(1));
  for (const char* const server : {"a", "b", "c"}) {
    NoteAhead(offsets, server, -30);
  }
  EXPECT_EQ(offsets.Offset(), absl::Seconds(-30));
}

TEST(ClockOffsetsTest, CountsTheLastReportOfServersThatAreThere) {
  ClockOffsets offsets;
  NoteAhead(offsets, "a", 60);
  NoteAhead(offsets, "a", 2);
  EXPECT_EQ(offsets.Offset(), absl::Seconds(2));
  offsets.Forget("a");
  EXPECT_EQ(offsets.Offset(), absl::ZeroDuration());
}

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
