// Lets long work be called off.
#pragma once

#include <atomic>

namespace waystar::core {

// Set, from any thread, when the work is no longer wanted: it is then left as soon as may be, and what there
// is of it is of no use. Null: it is done to the end.
using CancelFlag = const std::atomic<bool>*;

inline bool IsCancelled(CancelFlag flag) { return flag != nullptr && flag->load(std::memory_order_relaxed); }

}  // namespace waystar::core
