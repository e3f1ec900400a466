// A check that stops work at its k-th look, and counts the looks.
#pragma once

#include <atomic>
#include <limits>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"

namespace waystar {

// Thread safety: any.
class StopAfter final : public StopCheck {
 public:
  // Never stops the work.
  StopAfter() = default;
  // Lets that many looks pass.
  explicit StopAfter(int looks) : allowed_(looks) {}

  absl::Status Check() const override {
    return ++looks_ > allowed_ ? MakeError(ErrorReason::kCancelled, "", "the test has enough")
                               : absl::OkStatus();
  }

  int looks() const { return looks_; }

 private:
  int allowed_ = std::numeric_limits<int>::max();
  mutable std::atomic<int> looks_ = 0;
};

}  // namespace waystar
