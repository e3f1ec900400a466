// Open list of floods: a ring of buckets.
//
// Dial, "Algorithm 360: Shortest-Path Forest with Topological Ordering" (1969); buckets as wide as the
// cheapest step: Dinitz (1978).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

// Cells by cost in buckets of equal width; the buckets in use form a ring. A pushed cell must lie at most one
// step above the bucket being drained, or where HasRoomFor allows.
//
// If a bucket is no wider than the cheapest step, the cells of the lowest bucket are final: no cell of the
// bucket leads to another more cheaply. Buckets are that narrow unless the most expensive step costs more
// than kMost times the cheapest. Otherwise they are wider, and a search must reopen cells whose cost
// decreases.
//
// Not thread-safe. Memory is kept.
class BucketRing {
 public:
  // Clears the ring. The first bucket starts at 0.
  void Start(Cost cheapest_step, Cost dearest_step) {
    shift_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cheapest_step))) - 1;
    is_final_ = true;
    while ((static_cast<std::uint64_t>(dearest_step) >> shift_) + 2 > kMost) {
      ++shift_;
      is_final_ = false;
    }
    const std::size_t count = std::bit_ceil((static_cast<std::size_t>(dearest_step) >> shift_) + 2);
    buckets_.resize(std::max(buckets_.size(), count));
    for (std::vector<std::uint32_t>& bucket : buckets_) {
      bucket.clear();
    }
    mask_ = count - 1;
    current_ = 0;
    waiting_ = 0;
    is_draining_ = false;
  }

  // Returns true if buckets are no wider than the cheapest step.
  bool has_final_buckets() const { return is_final_; }

  void Push(Cost cost, std::uint32_t cell) {
    buckets_[NumberOf(cost) & mask_].push_back(cell);
    ++waiting_;
  }

  // Clears the drained bucket and moves to the next one. Returns false if no cell is left.
  bool Next() {
    if (is_draining_) {
      waiting_ -= Current().size();
      Current().clear();
    }
    is_draining_ = waiting_ > 0;
    while (waiting_ > 0 && Current().empty()) {
      ++current_;
    }
    return is_draining_;
  }

  // Returns true if a cell of that cost may be pushed, regardless of its distance from the bucket being
  // drained.
  // REQUIRES: the cost is not below that bucket.
  bool HasRoomFor(Cost cost) const { return NumberOf(cost) - current_ <= mask_; }
  // Continues at the bucket of that cost.
  // REQUIRES: Next() returned false; the cost is not below the current bucket.
  void SkipTo(Cost cost) { current_ = NumberOf(cost); }

  // Cells of the bucket being drained. Cells pushed into it meanwhile are appended.
  std::size_t drained_count() const { return buckets_[current_ & mask_].size(); }
  std::uint32_t Drained(std::size_t i) const { return buckets_[current_ & mask_][i]; }
  // Returns true if a cell of that cost belongs to the bucket being drained; if not, it was drained before.
  bool IsCurrent(Cost cost) const { return NumberOf(cost) == current_; }
  bool AreInOneBucket(Cost a, Cost b) const { return NumberOf(a) == NumberOf(b); }
  // Returns a lower bound of the costs of the remaining cells.
  Cost Floor() const { return static_cast<Cost>(current_ << shift_); }

  std::size_t memory_bytes() const {
    std::size_t bytes = 0;
    for (const std::vector<std::uint32_t>& bucket : buckets_) {
      bytes += sizeof(bucket) + bucket.capacity() * sizeof(std::uint32_t);
    }
    return bytes;
  }

 private:
  static constexpr std::size_t kMost = 4096;

  std::uint64_t NumberOf(Cost cost) const { return static_cast<std::uint64_t>(cost) >> shift_; }
  std::vector<std::uint32_t>& Current() { return buckets_[current_ & mask_]; }

  // The ring, and further buckets that earlier floods needed.
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  std::uint64_t current_ = 0;
  std::size_t waiting_ = 0;
  bool is_draining_ = false;
  bool is_final_ = true;
};

}  // namespace waystar::core
