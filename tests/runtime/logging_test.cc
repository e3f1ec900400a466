#include "server/runtime/logging.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_clock.h"

namespace waystar::runtime {
namespace {

TEST(LoggingTest, WritesPlainValuesBare) {
  EXPECT_EQ(FormatLogLine("map_loaded", {{"map", "arena-1"}, {"width", 49}}),
            "event=map_loaded map=arena-1 width=49");
}

TEST(LoggingTest, ValuesCannotForgeFieldsOrLines) {
  EXPECT_EQ(FormatLogLine("x", {{"a", "b c=d"}}), "event=x a=\"b c=d\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", "1\nlevel=error"}}), "event=x a=\"1\\nlevel=error\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", "say \"hi\""}}), "event=x a=\"say \\\"hi\\\"\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", ""}}), "event=x a=\"\"");
  EXPECT_EQ(FormatLogLine("x", {{"a", "\x1b[31m\xff"}}), "event=x a=\"\\x1b[31m\\xff\"");
}

TEST(LoggingTest, KnowsItsLevels) {
  for (const char* level : {"debug", "info", "warning", "error"}) {
    EXPECT_TRUE(StartLogging(level).ok()) << level;
  }
  EXPECT_EQ(StartLogging("loud").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartLogging("").code(), absl::StatusCode::kInvalidArgument);
}

TEST(LineLimitTest, AdmitsSoManyASecondAndCountsTheRest) {
  testing::FakeClock clock;
  LineLimit limit(clock);
  for (int i = 0; i < LineLimit::kLines; ++i) {
    EXPECT_EQ(limit.Admit(), 0);
  }
  EXPECT_EQ(limit.Admit(), std::nullopt);
  limit.LeaveOut();
  clock.Advance(absl::Milliseconds(999));
  EXPECT_EQ(limit.Admit(), std::nullopt);
  clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(limit.Admit(), 3);
  EXPECT_EQ(limit.Admit(), 0);
}

}  // namespace
}  // namespace waystar::runtime
