// Ownership of parts shared by copies of a value.
#pragma once

#include <atomic>
#include <cstdint>

namespace waystar::core {

// Number of a writer. A shared part carries the number of the writer that created it, which alone may write
// to it; others clone it first.
using Owner = std::uint64_t;

// Returns a unique number other than 0.
inline Owner NewOwner() {
  static std::atomic<Owner> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace waystar::core
