// Ownership of parts that copies of a value share.
#pragma once

#include <atomic>
#include <cstdint>

namespace waystar::core {

// A writer's number. A shared part carries the number of the writer that made it, which alone may write to
// it; all others clone it first.
using Owner = std::uint64_t;

// Returns a number that is never 0 and never returned again.
inline Owner NewOwner() {
  static std::atomic<Owner> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace waystar::core
