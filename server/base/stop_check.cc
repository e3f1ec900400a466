#include "server/base/stop_check.h"

#include "server/base/error.h"

namespace waystar {

absl::Status CallerStop::Check() const {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
    return MakeError(ErrorReason::kCancelled, "", "the call was cancelled");
  }
  // A call without a deadline does not read the clock.
  if (deadline_ != std::chrono::steady_clock::time_point::max() &&
      std::chrono::steady_clock::now() >= deadline_) {
    return MakeError(ErrorReason::kDeadlineExceeded, "", "the deadline passed before the call was done");
  }
  return absl::OkStatus();
}

}  // namespace waystar
