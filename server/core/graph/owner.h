// Who may write to what copies share.
#pragma once

#include <atomic>
#include <cstdint>

namespace waystar::core {

// Parts of a value that copies share carry the number of the writer that made them; it alone writes to them,
// all others make a copy of their own first.
using Owner = std::uint64_t;

// Never 0, never the same.
inline Owner NewOwner() {
  static std::atomic<Owner> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace waystar::core
