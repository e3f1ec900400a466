// Slot for an index over one state of a map, built in the background.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "server/core/grid/cells/lazy.h"

namespace waystar::core {

// Index that answers queries faster than a search, but only for one state of a map.
class StaticIndex {
 public:
  StaticIndex() = default;
  StaticIndex(const StaticIndex&) = delete;
  StaticIndex& operator=(const StaticIndex&) = delete;
  virtual ~StaticIndex() = default;

  virtual std::size_t memory_bytes() const = 0;
};

// Slot in which searches request and find an index, and builders see the requests.
//
// Thread safety: thread-safe.
class StaticIndexSlot {
 public:
  explicit StaticIndexSlot(bool is_wanted = false) : is_wanted_(is_wanted) {}

  // Returns true if a search has requested the index for this state of the map or an earlier one.
  bool is_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }
  void Want() {
    if (!is_wanted()) {
      is_wanted_.store(true, std::memory_order_relaxed);
    }
  }

  // True once the index is no longer needed, because the map changed or the index would not fit into memory.
  // Builders poll it.
  const std::atomic<bool>& is_given_up() const { return is_given_up_; }
  void GiveUp() { is_given_up_.store(true, std::memory_order_relaxed); }

  // Returns the index, or null before Put.
  const StaticIndex* index() const {
    const auto* index = index_.GetIfMade();
    return index != nullptr ? index->get() : nullptr;
  }
  // REQUIRES: Put has not been called.
  void Put(std::unique_ptr<const StaticIndex> index) { index_.Set(std::move(index)); }

 private:
  std::atomic<bool> is_wanted_;
  std::atomic<bool> is_given_up_ = false;
  Lazy<std::unique_ptr<const StaticIndex>> index_;
};

}  // namespace waystar::core
