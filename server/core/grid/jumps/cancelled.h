// Cooperative cancellation of long work.
#pragma once

#include <atomic>
#include <cstddef>

#include "server/base/stop_check.h"

namespace waystar::core {

// Cancellation request: a flag that any thread may set, or a StopCheck. Work that is cancelled stops soon,
// with an undefined partial result. A CancelFlag made from null never cancels.
class CancelFlag {
 public:
  // Implicit, so that callers can pass a flag or a check directly.
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
