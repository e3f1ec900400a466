// Cooperative cancellation of long work.
#pragma once

#include <atomic>

namespace waystar::core {

// A flag that any thread may set when the work is no longer wanted. The work then stops soon, and its partial
// result is undefined. A null flag means that the work cannot be cancelled.
using CancelFlag = const std::atomic<bool>*;

inline bool IsCancelled(CancelFlag flag) { return flag != nullptr && flag->load(std::memory_order_relaxed); }

}  // namespace waystar::core
