// Cooperative cancellation of long work.
#pragma once

#include <atomic>
#include <cstddef>

#include "server/base/stop_check.h"

namespace waystar::core {

// Tells when work is no longer wanted: a flag that any thread may set, or a check. The work then stops soon,
// and its partial result is undefined. One made of null means that the work cannot be cancelled.
class CancelFlag {
 public:
  // They convert: callers pass a flag or a check as it is.
  // NOLINTBEGIN(google-explicit-constructor)
  CancelFlag(std::nullptr_t) {}
  CancelFlag(const std::atomic<bool>* flag) : flag_(flag) {}
  CancelFlag(const StopCheck* stop) : stop_(stop) {}
  // NOLINTEND(google-explicit-constructor)

  bool IsSet() const {
    return (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) || IsStopped(stop_);
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  const StopCheck* stop_ = nullptr;
};

inline bool IsCancelled(CancelFlag flag) { return flag.IsSet(); }

}  // namespace waystar::core
