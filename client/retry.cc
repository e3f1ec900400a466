#include "client/retry.h"

#include <algorithm>
#include <cstdint>

#include "absl/random/random.h"
#include "absl/time/clock.h"
#include "client/errors.h"

namespace waystar::client {
namespace {

constexpr int kMaxAttempts = 4;
constexpr absl::Duration kFirstBackoff = absl::Milliseconds(50);
constexpr absl::Duration kMaxBackoff = absl::Seconds(1);
constexpr int kBackoffFactor = 3;

bool MayPass(Repeatable repeatable, const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
      return repeatable != Repeatable::kNever;
    case absl::StatusCode::kResourceExhausted:
      return repeatable != Repeatable::kNever && RetryDelayOf(status) > absl::ZeroDuration();
    case absl::StatusCode::kUnavailable:
      return repeatable == Repeatable::kHasId;
    default:
      return false;
  }
}

// Never sooner than the server asks; what many clients do at once is spread over half as much again.
absl::Duration DelayAfter(const absl::Status& status, int attempts) {
  absl::Duration backoff = kFirstBackoff;
  for (int i = 1; i < attempts; ++i) {
    backoff *= kBackoffFactor;
  }
  const absl::Duration asked = RetryDelayOf(status);
  thread_local absl::InsecureBitGen random;
  const double stretch = absl::Uniform(random, 1.0, 1.5);
  if (asked > absl::ZeroDuration()) {
    return asked * attempts * stretch;
  }
  return std::min(backoff, kMaxBackoff) * stretch;
}

}  // namespace

bool RetryBudget::Fail() {
  int left = left_.load(std::memory_order_relaxed);
  int next = 0;
  do {
    next = std::max(left - kFailure, 0);
  } while (!left_.compare_exchange_weak(left, next, std::memory_order_relaxed));
  return next >= kFull / 2;
}

void RetryBudget::Succeed() {
  int left = left_.load(std::memory_order_relaxed);
  while (left < kFull &&
         !left_.compare_exchange_weak(left, std::min(left + kSuccess, kFull), std::memory_order_relaxed)) {
  }
}

absl::Status CallWithRetries(Repeatable repeatable, absl::Duration timeout, RetryBudget& budget,
                             absl::FunctionRef<absl::Status(absl::Duration timeout)> call) {
  const absl::Time deadline = absl::Now() + timeout;
  absl::Duration left = timeout;
  for (int attempts = 1;; ++attempts) {
    absl::Status status = call(left);
    if (!MayPass(repeatable, status)) {
      if (status.ok()) {
        budget.Succeed();
      }
      return status;
    }
    const bool may_go_on = budget.Fail() && attempts < kMaxAttempts;
    const absl::Duration delay = DelayAfter(status, attempts);
    left = deadline - absl::Now() - delay;
    if (!may_go_on || left <= absl::ZeroDuration()) {
      return status;
    }
    absl::SleepFor(delay);
  }
}

void StampRequestTime(v1::UpdateMapRequest& batch) {
  if (batch.request_id().empty() || batch.has_request_time()) {
    return;
  }
  const absl::Time now = absl::Now();
  const std::int64_t seconds = absl::ToUnixSeconds(now);
  batch.mutable_request_time()->set_seconds(seconds);
  batch.mutable_request_time()->set_nanos(
      static_cast<std::int32_t>(absl::ToInt64Nanoseconds(now - absl::FromUnixSeconds(seconds))));
}

}  // namespace waystar::client
