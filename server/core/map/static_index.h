// A slot for an index over one state of a map, built in the background.
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

// The slot in which searches ask for an index and find it, and by which builders see what is asked for.
//
// Thread safety: any method may be called from any thread.
class StaticIndexSlot {
 public:
  explicit StaticIndexSlot(bool is_wanted = false) : is_wanted_(is_wanted) {}

  // Returns whether a search has asked for the index of this state of the map or of one before it.
  bool is_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }
  void Want() {
    if (!is_wanted()) {
      is_wanted_.store(true, std::memory_order_relaxed);
    }
  }

  // A flag that is set when the index need not be built any more, because the map has changed or the index
  // would not fit into memory. Poll it while building.
  const std::atomic<bool>& is_given_up() const { return is_given_up_; }
  void GiveUp() { is_given_up_.store(true, std::memory_order_relaxed); }

  // Returns the index, or null before Put.
  const StaticIndex* index() const {
    const auto* index = index_.GetIfMade();
    return index != nullptr ? index->get() : nullptr;
  }
  // REQUIRES: Put was not called before.
  void Put(std::unique_ptr<const StaticIndex> index) { index_.Set(std::move(index)); }

 private:
  std::atomic<bool> is_wanted_;
  std::atomic<bool> is_given_up_ = false;
  Lazy<std::unique_ptr<const StaticIndex>> index_;
};

}  // namespace waystar::core
