// Prefetching of memory into the caches.
#pragma once

#include <cstddef>

namespace waystar::core {

// Hints that the values are read, or written, soon. It costs about a cycle a cache line and does not wait.
template <typename T>
void FetchForReading(const T* begin, std::size_t values) {
  for (std::size_t i = 0; i < values; i += 64 / sizeof(T)) {
    __builtin_prefetch(begin + i);
  }
}

}  // namespace waystar::core
