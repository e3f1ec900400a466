// An index over walkable cells that follows their changes when that is worth its while.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/walk/change_log.h"

namespace waystar::core {

// Searches do without the index, at a price: they look around at cells where it would have told them that
// there is nothing to see. The index of a grid that came of another by changes is therefore not made at once.
// It lags behind: the grid keeps the last index that was made, the cells it was made of, and which words
// changed since. Searches that do without say how often they looked around in vain; when that adds up to what
// a repair costs, the next search repairs it, once for all changes until then. At the worst that costs twice
// what the better of always and never would: Karlin, Manasse, Rudolph and Sleator, "Competitive Snoopy
// Caching" (1988). So a map that changes while nobody searches it, or where the index is of no use, as among
// scattered single obstacles, pays next to nothing for it.
//
// What was looked around in vain is credit, which all grids that came of each other share, so that a search
// of a grid that has been replaced meanwhile counts as well. A repair by a search is good for some more:
// while credit lasts, whoever changes the map repairs the index at once (IsWanted), and spends it.
//
// Nobody waits for a repair: who wants the index while another is at it does without, and who changes the map
// meanwhile goes by the index before.
//
// Thread safety: any method from any thread, but for Follow.
template <typename Index>
class LaggingIndex {
 public:
  // Null if it is not made or lags.
  const Index* GetIfCurrent() const { return current_.load(std::memory_order_acquire); }

  // Whether it, or one before it, was ever made.
  bool IsAskedFor() const { return lags_ || GetIfCurrent() != nullptr; }

  // Whether searches have paid for it already.
  bool IsWanted() const { return lags_ && credit_->load(std::memory_order_relaxed) >= price_; }

  // How many words that changed a repair has to look at; nothing if it can only be made anew.
  std::optional<std::size_t> Lag() const {
    MutexLock lock(mutex_);
    return index_ == nullptr && base_ == nullptr ? std::nullopt : std::optional(log_.size());
  }

  // Makes this the index of a grid that came of another by `changes`. `before` is that of the other, whose
  // cells are `rows` and `columns`. Costs a few pointers and the changes. REQUIRES: nobody else knows this
  // one.
  void Follow(const LaggingIndex& before, const BitPlane& rows, const BitPlane& columns,
              absl::Span<const WordChange> changes) {
    MutexLock lock(mutex_);
    {
      MutexLock before_lock(before.mutex_);
      credit_ = before.credit_;
      if (before.index_ != nullptr) {
        base_ = std::make_shared<const Base>(Base{rows, columns, before.index_});
      } else if (before.lags_) {
        base_ = before.base_;
        log_ = before.log_;
      } else {
        return;
      }
    }
    lags_ = true;
    const std::size_t cells =
        static_cast<std::size_t>(rows.width()) * static_cast<std::size_t>(rows.height());
    price_ = cells / kCellsPerLookAround;
    if (base_ == nullptr) {
      return;
    }
    log_.Add(changes);
    if (log_.size() * kLookAroundsPerWord > price_) {
      base_ = nullptr;
      log_ = {};
    } else {
      price_ = log_.size() * kLookAroundsPerWord;
    }
  }

  // Counts what searches did in want of the index, if it lags.
  void NoteInVain(std::uint64_t look_arounds) const {
    if (lags_) {
      credit_->fetch_add(look_arounds, std::memory_order_relaxed);
    }
  }

  // The index for a search. make() gives that of the cells as they are; repair(index, rows, columns, log)
  // does so too, from an index of those cells and the words that may have changed since. Who asks for one
  // that no grid before had waits for it to be made.
  template <typename Make, typename Repair>
  const Index* Get(Make make, Repair repair) const {
    if (const Index* index = GetIfCurrent()) {
      return index;
    }
    if (!lags_) {
      return MakeNow(make, repair);
    }
    if (!IsWanted() || !making_.TryLock()) {
      return nullptr;
    }
    Update(make, repair);
    making_.Unlock();
    RaiseCreditTo(kRepairsPaid * price_);
    return GetIfCurrent();
  }

  // The same whatever it costs, after all that others are making.
  template <typename Make, typename Repair>
  const Index* MakeNow(Make make, Repair repair) const {
    MutexLock lock(making_);
    Update(make, repair);
    return GetIfCurrent();
  }

  // For who changes the map, and makes the index because it is wanted.
  void SpendCredit() const {
    std::uint64_t credit = credit_->load(std::memory_order_relaxed);
    while (!credit_->compare_exchange_weak(credit, credit - std::min(credit, price_),
                                           std::memory_order_relaxed)) {
    }
  }

  // Bytes held by a grid of these cells that neither it nor `other`, if it is not null, holds anyhow.
  std::size_t BytesBeyond(const LaggingIndex* other, const BitPlane& rows, const BitPlane& columns) const {
    const Held own = Hold();
    const Held others = other == nullptr ? Held{} : other->Hold();
    std::size_t bytes = 0;
    if (own.index != nullptr && own.index != others.index) {
      bytes += own.index->BytesBeyond(others.index.get());
    }
    if (own.base != nullptr && own.base != others.base) {
      bytes += own.base->rows.BytesBeyond(rows) + own.base->columns.BytesBeyond(columns);
    }
    return bytes;
  }

 private:
  // A look around takes some 25 ns: two scans of a line. An index is made anew in 2 ns a cell, and repaired
  // in 2 to 8 us a word that changed on its own, less where words that changed lie together.
  static constexpr std::uint64_t kCellsPerLookAround = 12;
  static constexpr std::uint64_t kLookAroundsPerWord = 150;
  // How many repairs like it one by a search is good for.
  static constexpr std::uint64_t kRepairsPaid = 16;

  using Credit = std::atomic<std::uint64_t>;

  struct Base {
    BitPlane rows;
    BitPlane columns;
    std::shared_ptr<const Index> index;
  };

  struct Held {
    std::shared_ptr<const Index> index;
    std::shared_ptr<const Base> base;
  };

  template <typename Make, typename Repair>
  void Update(Make make, Repair repair) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(making_) {
    std::shared_ptr<const Base> base;
    ChangeLog log;
    {
      MutexLock lock(mutex_);
      if (index_ != nullptr) {
        return;
      }
      base = base_;
      log = log_;
    }
    const auto index =
        base == nullptr ? std::make_shared<const Index>(make())
                        : std::make_shared<const Index>(repair(*base->index, base->rows, base->columns, log));
    MutexLock lock(mutex_);
    if (credit_ == nullptr) {
      credit_ = std::make_shared<Credit>(0);
    }
    index_ = index;
    base_ = nullptr;
    log_ = {};
    current_.store(index_.get(), std::memory_order_release);
  }

  void RaiseCreditTo(std::uint64_t enough) const {
    std::uint64_t credit = credit_->load(std::memory_order_relaxed);
    while (credit < enough && !credit_->compare_exchange_weak(credit, enough, std::memory_order_relaxed)) {
    }
  }

  Held Hold() const {
    MutexLock lock(mutex_);
    return {index_ != nullptr || base_ == nullptr ? index_ : base_->index, base_};
  }

  // Held while the index is made; mutex_ for as long as it takes to copy pointers. Taken in this order.
  mutable Mutex making_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Index> index_ ABSL_GUARDED_BY(mutex_);
  // What is changed to make it, if a grid before had one and it is not too far behind.
  mutable std::shared_ptr<const Base> base_ ABSL_GUARDED_BY(mutex_);
  mutable ChangeLog log_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<const Index*> current_ = nullptr;
  // Set by Follow.
  bool lags_ = false;
  std::uint64_t price_ = 0;
  // Made with the first index, so that grids without one pay nothing for it. Does not change once this lags.
  mutable std::shared_ptr<Credit> credit_;
};

}  // namespace waystar::core
