// Room for an index over one state of a map, which somebody may build at leisure.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "server/core/grid/lazy.h"

namespace waystar::core {

// An index that answers faster than a search over the map, and is of no use once the map has changed.
class StaticIndex {
 public:
  StaticIndex() = default;
  StaticIndex(const StaticIndex&) = delete;
  StaticIndex& operator=(const StaticIndex&) = delete;
  virtual ~StaticIndex() = default;

  virtual std::size_t memory_bytes() const = 0;
};

// Where searches ask for an index and find it, and where who builds them sees what is asked for.
//
// Thread safety: any method from any thread.
class StaticIndexSlot {
 public:
  explicit StaticIndexSlot(bool is_wanted = false) : is_wanted_(is_wanted) {}

  // Whether a search has asked for the index of this state of the map or of one before it.
  bool is_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }
  void Want() {
    if (!is_wanted()) {
      is_wanted_.store(true, std::memory_order_relaxed);
    }
  }

  // Whether the index need not be built any more, because the map has changed or it would not fit into
  // memory; to be polled while building.
  const std::atomic<bool>& is_given_up() const { return is_given_up_; }
  void GiveUp() { is_given_up_.store(true, std::memory_order_relaxed); }

  // Null until it is put here.
  const StaticIndex* index() const {
    const auto* index = index_.GetIfMade();
    return index != nullptr ? index->get() : nullptr;
  }
  // REQUIRES: it is the first.
  void Put(std::unique_ptr<const StaticIndex> index) { index_.Set(std::move(index)); }

 private:
  std::atomic<bool> is_wanted_;
  std::atomic<bool> is_given_up_ = false;
  Lazy<std::unique_ptr<const StaticIndex>> index_;
};

}  // namespace waystar::core
