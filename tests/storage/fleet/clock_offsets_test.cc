#include "server/storage/fleet/clock_offsets.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace waystar::cluster
