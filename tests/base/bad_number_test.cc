#include "server/base/bad_number.h"

#include <limits>

#include "gmock/gmock.h"

namespace waystar {
namespace {

TEST(BadNumberTest, NamesTheFieldAndWhatWasGiven) {
  const absl::Status error = BadNumber(ErrorReason::kBadEdge, "edges[2].cost", -1.5, "from 0 to 1000");
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(), "edges[2].cost is -1.5, and must be from 0 to 1000");
  EXPECT_EQ(ErrorReasonOf(error), "BAD_EDGE");
  EXPECT_EQ(ErrorFieldOf(error), "edges[2].cost");
}

TEST(BadNumberTest, TellsNumbersThatAreJustOutOfRange) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(BadNumber(ErrorReason::kBadValue, ".x", 1'048'577, "at most 1048576").message(),
            "x is 1048577, and must be at most 1048576");
  EXPECT_EQ(BadNumber(ErrorReason::kBadValue, "x", kNone, "a finite number").message(),
            "x is nan, and must be a finite number");
}

}  // namespace
}  // namespace waystar
