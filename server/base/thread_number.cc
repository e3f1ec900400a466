#include "server/base/thread_number.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

namespace waystar {

std::size_t ThreadNumber() {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::size_t StripesForProcessors(std::size_t max) {
  // 0 where the number is not known.
  const std::size_t processors = std::thread::hardware_concurrency();
  return std::bit_ceil(std::clamp(processors, std::size_t{1}, max));
}

}  // namespace waystar
