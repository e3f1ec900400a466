#include "server/runtime/line_limit.h"

#include <optional>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_clock.h"

namespace waystar::runtime {
namespace {

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
