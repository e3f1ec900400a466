// Memory that is fetched into the caches before it is needed.
#pragma once

#include <cstddef>

namespace waystar::core {

// A hint: costs about as many cycles as there are cache lines, and waits for nothing.
template <typename T>
void FetchForReading(const T* begin, std::size_t values) {
  for (std::size_t i = 0; i < values; i += 64 / sizeof(T)) {
    __builtin_prefetch(begin + i);
  }
}

}  // namespace waystar::core
