#include "server/core/grid/search/node_table.h"

namespace waystar::core {

void NodeTable::Grow() {
  nodes_.reserve(GrownCapacity());
  const std::size_t slots = SlotsFor(nodes_.capacity());
  slots_.assign(slots, kNoNode);
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    // Marks the slots of nodes not inserted yet as free.
    nodes_[i].slot = kNoNode;
  }
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    const Place place = Probe(nodes_[i].cell);
    nodes_[i].slot = place.slot;
    slots_[place.slot] = i;
  }
}

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
