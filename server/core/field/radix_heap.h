// An open list for searches whose costs never fall.
//
// Ahuja, Mehlhorn, Orlin, Tarjan, "Faster Algorithms for the Shortest Path Problem" (1990).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/core/grid/cost.h"

namespace waystar::core {

// Entries by cost, in intervals of 2^width_shift: those of the lowest interval first, in an order within it
// that is the same on every machine. What is pushed must not lie below the interval of what was popped last.
//
// Where no step costs less than 2^width_shift, whatever is popped is final: nothing of its own interval leads
// to it more cheaply (Dinitz, 1978). Push costs O(1), Pop O(1) on average over few intervals, at most
// one move of an entry for each bit of the cost's range. Memory is kept.
//
// Thread safety: none.
class RadixHeap {
 public:
  struct Entry {
    Cost cost = 0;
    std::uint32_t cell = 0;
  };

  // Forgets everything.
  void Start(int width_shift) {
    for (std::vector<Entry>& bucket : buckets_) {
      bucket.clear();
    }
    shift_ = width_shift;
    last_ = 0;
    occupied_ = 0;
  }

  bool empty() const { return occupied_ == 0; }

  void Push(Cost cost, std::uint32_t cell) {
    const auto bucket = static_cast<std::size_t>(std::bit_width(KeyOf(cost) ^ last_));
    buckets_[bucket].push_back({cost, cell});
    occupied_ |= std::uint64_t{1} << bucket;
  }

  // REQUIRES: !empty().
  Entry Pop() {
    if ((occupied_ & 1U) == 0) {
      Refill();
    }
    std::vector<Entry>& bucket = buckets_[0];
    const Entry entry = bucket.back();
    bucket.pop_back();
    if (bucket.empty()) {
      occupied_ &= ~std::uint64_t{1};
    }
    return entry;
  }

  std::size_t memory_bytes() const {
    std::size_t bytes = 0;
    for (const std::vector<Entry>& bucket : buckets_) {
      bytes += bucket.capacity() * sizeof(Entry);
    }
    return bytes;
  }
  void Release() { buckets_ = {}; }

 private:
  std::uint64_t KeyOf(Cost cost) const { return static_cast<std::uint64_t>(cost) >> shift_; }

  // Spreads the lowest bucket over those below it; what has its lowest key comes into the first.
  void Refill() {
    const auto lowest = static_cast<std::size_t>(std::countr_zero(occupied_));
    std::vector<Entry>& bucket = buckets_[lowest];
    std::uint64_t key = std::numeric_limits<std::uint64_t>::max();
    for (const Entry& entry : bucket) {
      key = std::min(key, KeyOf(entry.cost));
    }
    last_ = key;
    for (const Entry& entry : bucket) {
      Push(entry.cost, entry.cell);
    }
    bucket.clear();
    occupied_ &= ~(std::uint64_t{1} << lowest);
  }

  // Bucket b holds the keys whose highest bit that differs from last_ is bit b - 1; costs have 63 bits.
  std::array<std::vector<Entry>, 64> buckets_;
  std::uint64_t occupied_ = 0;
  std::uint64_t last_ = 0;
  int shift_ = 0;
};

}  // namespace waystar::core
