#include "client/cli/exit_code.h"

#include <gtest/gtest.h>

#include "client/errors.h"
#include "tests/client/fake_server.h"

namespace waystar::cli {
namespace {

absl::Status Exhausted(absl::Duration retry_delay) {
  return client::FromGrpc(::waystar::testing::Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "too much",
                                                      "QUEUE_FULL", "", retry_delay));
}

TEST(ExitCodeTest, TellsRefusalsFromAnUnavailableServer) {
  EXPECT_EQ(ExitCodeFor(absl::OkStatus()), ExitCode::kOk);
  EXPECT_EQ(ExitCodeFor(absl::NotFoundError("")), ExitCode::kRefused);
  EXPECT_EQ(ExitCodeFor(absl::AbortedError("")), ExitCode::kRefused);
  EXPECT_EQ(ExitCodeFor(absl::OutOfRangeError("")), ExitCode::kRefused);
  EXPECT_EQ(ExitCodeFor(absl::UnavailableError("")), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeFor(absl::DeadlineExceededError("")), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeFor(absl::InternalError("")), ExitCode::kFailure);
  EXPECT_EQ(ExitCodeFor(absl::UnimplementedError("")), ExitCode::kFailure);
}

TEST(ExitCodeTest, TellsOverloadFromLimits) {
  EXPECT_EQ(ExitCodeFor(Exhausted(absl::Milliseconds(50))), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeFor(Exhausted(absl::ZeroDuration())), ExitCode::kRefused);
}

TEST(ExitCodeTest, OnlyACompletePathIsSuccess) {
  EXPECT_EQ(ExitCodeFor(v1::OUTCOME_FOUND), ExitCode::kOk);
  EXPECT_EQ(ExitCodeFor(v1::OUTCOME_PARTIAL), ExitCode::kNoPath);
  EXPECT_EQ(ExitCodeFor(v1::OUTCOME_UNREACHABLE), ExitCode::kNoPath);
  EXPECT_EQ(ExitCodeFor(v1::OUTCOME_BUDGET_EXHAUSTED), ExitCode::kNoPath);
}

}  // namespace
}  // namespace waystar::cli
