// Index that answers queries faster than a search, and the slot of a map where searches find it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Index of one state of the cells of a map.
//
// Thread safety: immutable.
class StaticIndex {
 public:
  explicit StaticIndex(WalkCells cells) : cells_(std::move(cells)) {}
  StaticIndex(const StaticIndex&) = delete;
  StaticIndex& operator=(const StaticIndex&) = delete;
  virtual ~StaticIndex() = default;

  // Returns the cells that the index was made from.
  const WalkCells& cells() const { return cells_; }
  virtual std::size_t memory_bytes() const = 0;

 private:
  const WalkCells cells_;
};

// Slot for a StaticIndex: searches request it, a builder puts it, and later searches find it. A map that is
// made from another by a few changes takes over the index; searches then check whether its answer still
// holds. A change pays for the words that it touches and for up to kMostChanged more.
//
// Thread safety: thread-safe.
class StaticIndexSlot {
 public:
  // Most changed words with which an index is taken over.
  static constexpr std::size_t kMostChanged = 256;

  // Index of this state of the map or an earlier one.
  struct Held {
    std::shared_ptr<const StaticIndex> index;
    // Words of rows in which the cells differ from those of the index, in ascending order.
    std::vector<WordIndex> changed;
    // Cells that have become walkable since.
    std::vector<Cell> freed;
  };

  explicit StaticIndexSlot(bool is_wanted = false) : is_wanted_(is_wanted) {}
  // Makes the slot of a map from that of `before`, whose cells `changes` turned into `rows`.
  StaticIndexSlot(const StaticIndexSlot& before, absl::Span<const WordChange> changes, const BitPlane& rows);

  // Returns true if a search has requested the index for this state of the map or an earlier one.
  bool is_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }
  void Want() {
    if (!is_wanted()) {
      is_wanted_.store(true, std::memory_order_relaxed);
    }
  }

  // True once the index is no longer needed, or would not fit into memory. Builders poll it.
  const std::atomic<bool>& is_given_up() const { return is_given_up_; }
  void GiveUp() { is_given_up_.store(true, std::memory_order_relaxed); }

  // Returns the index, or null if there is none.
  std::shared_ptr<const Held> held() const {
    MutexLock lock(mutex_);
    return held_;
  }
  // Puts the index of an earlier state of the map, which now has the cells `rows`. Does nothing if too many
  // of them differ.
  void Put(std::shared_ptr<const StaticIndex> index, const BitPlane& rows);

 private:
  std::atomic<bool> is_wanted_;
  std::atomic<bool> is_given_up_ = false;
  mutable Mutex mutex_;
  std::shared_ptr<const Held> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
