#include "server/core/grid/search/bucket_queue.h"

#include <algorithm>
#include <cstdint>

namespace waystar::core {

void BucketQueue::BringFarNear() {
  current_ = far_lowest_;
  far_lowest_ = kNoBucket;
  std::uint32_t rest = far_;
  far_ = kNoEntry;
  while (rest != kNoEntry) {
    Entry& entry = entries_[rest];
    const std::uint32_t following = entry.next;
    const std::uint64_t bucket = BucketOf(entry.f);
    const bool is_near = bucket - current_ < kRing;
    std::uint32_t& head = is_near ? HeadFor(bucket) : far_;
    if (!is_near) {
      far_lowest_ = std::min(far_lowest_, bucket);
    }
    entry.next = head;
    head = rest;
    rest = following;
  }
}

}  // namespace waystar::core
