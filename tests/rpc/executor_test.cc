#include "server/rpc/executor.h"

#include <chrono>
#include <latch>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;

class Blocker final : public runtime::WorkerPool::Job {
 public:
  void Run(int /*worker*/) override {
    running.count_down();
    release.wait();
  }

  std::latch running{1};
  std::latch release{1};
};

class Nothing final : public runtime::WorkerPool::Job {
 public:
  void Run(int /*worker*/) override {}
};

TEST(ExecutorTest, FullQueueRefusesWithARetryDelay) {
  Blocker blocker;
  Nothing waiting;
  Nothing refused;
  Executor executor({.workers = 1, .max_queued = 1});
  ASSERT_THAT(executor.Submit(&blocker), IsOk());
  blocker.running.wait();
  ASSERT_THAT(executor.Submit(&waiting), IsOk());
  const absl::Status status = executor.Submit(&refused);
  EXPECT_THAT(status, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueFull, ""));
  EXPECT_GT(RetryDelayOf(status), absl::ZeroDuration());
  blocker.release.count_down();
}

TEST(ExecutorTest, LateWorkIsRefusedWithARetryDelay) {
  const Executor executor({.max_queue_time = absl::Milliseconds(100)});
  const Executor::Clock::time_point submitted{};
  EXPECT_THAT(executor.CheckWait(submitted, submitted + std::chrono::milliseconds(100)), IsOk());
  const absl::Status status = executor.CheckWait(submitted, submitted + std::chrono::milliseconds(101));
  EXPECT_THAT(status, IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kQueueTimeout, ""));
  EXPECT_GT(RetryDelayOf(status), absl::ZeroDuration());
}

}  // namespace
}  // namespace waystar::rpc
