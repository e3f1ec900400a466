#include "server/base/striped_mutex.h"

#include <bit>

namespace waystar {

StripedMutex::StripedMutex(std::size_t stripes) : mask_(stripes - 1), stripes_(new Stripe[stripes]) {
  assert(std::has_single_bit(stripes));
}

std::size_t StripedMutex::DefaultStripes() { return StripesForProcessors(kMaxStripes); }

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
