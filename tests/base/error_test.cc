#include "server/base/error.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"

namespace waystar {
namespace {

TEST(ErrorTest, CarriesReasonAndField) {
  const absl::Status error = MakeError(ErrorReason::kMapNotFound, "map", "there is no map \"x\"");
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(error.message(), "there is no map \"x\"");
  EXPECT_EQ(ErrorReasonOf(error), "MAP_NOT_FOUND");
  EXPECT_EQ(ErrorFieldOf(error), "map");
}

TEST(ErrorTest, OrdinaryStatusHasNeither) {
  const absl::Status error = absl::InternalError("oops");
  EXPECT_EQ(ErrorReasonOf(error), "");
  EXPECT_EQ(ErrorFieldOf(error), "");
  EXPECT_EQ(RetryDelayOf(error), absl::ZeroDuration());
}

TEST(ErrorTest, OtherErrorsMayCarryARetryDelayToo) {
  const absl::Status error = WithRetryDelay(absl::UnavailableError("the disk is full"), absl::Seconds(1));
  EXPECT_EQ(error.message(), "the disk is full");
  EXPECT_EQ(RetryDelayOf(error), absl::Seconds(1));
}

TEST(ErrorTest, RefusalCarriesRetryDelay) {
  const absl::Status refusal = Refusal(ErrorReason::kQueueFull, absl::Milliseconds(20), "busy");
  EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RetryDelayOf(refusal), absl::Milliseconds(20));
}

TEST(ErrorTest, PrefixGoesBeforeField) {
  const absl::Status error = MakeError(ErrorReason::kEmptyShape, "block.cells[2]", "no");
  EXPECT_EQ(ErrorFieldOf(WithFieldPrefix(error, "edits[3].")), "edits[3].block.cells[2]");
  EXPECT_TRUE(WithFieldPrefix(absl::OkStatus(), "edits[3].").ok());
}

TEST(BadNumberTest, NamesTheFieldAndWhatWasGiven) {
  const absl::Status error = BadNumber(ErrorReason::kBadEdge, "edges[2].cost", -1.5, "0 to 1000");
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(), "edges[2].cost must be 0 to 1000, got -1.5");
  EXPECT_EQ(ErrorReasonOf(error), "BAD_EDGE");
  EXPECT_EQ(ErrorFieldOf(error), "edges[2].cost");
}

TEST(BadNumberTest, TellsNumbersThatAreJustOutOfRange) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(BadNumber(ErrorReason::kBadValue, ".x", 1'048'577, "at most 1048576").message(),
            "x must be at most 1048576, got 1048577");
  EXPECT_EQ(BadNumber(ErrorReason::kBadValue, "x", kNone, "a finite number").message(),
            "x must be a finite number, got nan");
}

}  // namespace
}  // namespace waystar
