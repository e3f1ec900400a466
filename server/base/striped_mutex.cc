#include "server/base/striped_mutex.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

namespace waystar {

StripedMutex::StripedMutex(std::size_t stripes) : mask_(stripes - 1), stripes_(new Stripe[stripes]) {
  assert(std::has_single_bit(stripes));
}

std::size_t StripedMutex::DefaultStripes() {
  // 0 where the number is not known.
  const std::size_t processors = std::thread::hardware_concurrency();
  return std::bit_ceil(std::clamp(processors, std::size_t{1}, kMaxStripes));
}

std::size_t StripedMutex::ThreadNumber() {
  static std::atomic<std::size_t> next = 0;
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// All writers take them in the same order, and a reader takes one only, so that nobody waits in a circle.
void StripedMutex::Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t stripe = 0; stripe <= mask_; ++stripe) {
    stripes_[stripe].mutex.Lock();
  }
}

void StripedMutex::Unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t stripe = mask_ + 1; stripe > 0; --stripe) {
    stripes_[stripe - 1].mutex.Unlock();
  }
}

}  // namespace waystar
