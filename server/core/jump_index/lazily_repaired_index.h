// A lazily repaired index: one over walkable cells that follows their changes when searches have paid for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/jump_index/change_log.h"

namespace waystar::core {

// Searches can do without the index, at a price: they look around at cells where the index would have told
// them that there is nothing to see. So the index of a grid that was made from another by changes is not made
// at once. It lags behind: the grid keeps the last index that was made, the cells it was made of, and the
// words that changed since. Searches that do without it record how often they looked around in vain. When
// that adds up to the cost of a repair, the next search repairs it, once for all changes until then. At worst
// that costs twice what the better of always and never repairing would: Karlin, Manasse, Rudolph and Sleator,
// "Competitive Snoopy Caching" (1988). So a map that changes while nobody searches it, or where the index is
// of no use, as among scattered single obstacles, pays next to nothing for it.
//
// Recorded misses are credit that all grids made from each other share, so that a search of a grid that has
// since been replaced counts as well. A repair by a search pays for more: while credit lasts, whoever changes
// the map repairs the index at once (IsWanted) and spends credit.
//
// Nobody waits for a repair: a search that wants the index while another is making it does without, and who
// changes the map meanwhile starts from the index before.
//
// On a large grid, where a search would have to work for more than about 10 ms, the index is overdue: it is
// left to a background thread (MakeNow). By the time that is done the grid may have been replaced many times;
// the latest grid then follows the new index (FollowCloser). So is the first index of a large grid that is to
// serve at once (LeaveToBackground).
//
// Thread safety: any method may be called from any thread, except Follow, FollowUnlisted and
// LeaveToBackground.
template <typename Index>
class LazilyRepairedIndex {
 public:
  // Returns the index, or null if it is not made or lags.
  const Index* GetIfCurrent() const { return current_.load(std::memory_order_acquire); }

  // Returns whether the index, or one before it, was ever made.
  bool IsAskedFor() const { return lags_ || GetIfCurrent() != nullptr; }

  // Returns whether searches have paid for it already.
  bool IsWanted() const {
    return lags_ && credit_->load(std::memory_order_relaxed) >= price_.load(std::memory_order_relaxed);
  }

  // Returns whether it takes longer to build the index of so many cells than a search may wait.
  static bool TakesLong(std::size_t cells) { return cells > kMaxCellsAtOnce; }

  // Leaves the first build to a background thread, as if searches had paid for it. REQUIRES: no other thread
  // knows this index, which was not made; TakesLong(the cells of `rows`).
  void LeaveToBackground(const BitPlane& rows) {
    lags_ = true;
    is_promised_ = true;
    MutexLock lock(mutex_);
    SetBehind({}, CellsOf(rows));
    credit_ = std::make_shared<Credit>(MostCredit());
  }

  // Returns what the index takes that LeaveToBackground left, or left before changes led here; 0 once it is
  // made, or was made and is too far behind to be repaired. `rows` are the cells.
  std::size_t PromisedBytes(const BitPlane& rows) const {
    return is_promised_ && Hold().index == nullptr ? Index::BytesFor(CellsOf(rows)) : 0;
  }

  // Returns whether it lags so far behind that neither a search nor a change of the map is to make it.
  bool NeedsBackgroundBuild() const {
    return lags_ && takes_long_.load(std::memory_order_relaxed) && GetIfCurrent() == nullptr;
  }

  // Returns how many changed words a repair has to look at, or nothing if the index must be built anew.
  std::optional<std::size_t> Lag() const {
    MutexLock lock(mutex_);
    return index_ == nullptr && base_ == nullptr ? std::nullopt : std::optional(log_.size());
  }

  // Makes this the index of a grid that `changes` made from another. `before` is the index of the other grid,
  // whose cells are `rows` and `columns`. It costs a few pointers and the changes. REQUIRES: no other thread
  // knows this index.
  void Follow(const LazilyRepairedIndex& before, const BitPlane& rows, const BitPlane& columns,
              absl::Span<const WordChange> changes) {
    if (!TakeCredit(before)) {
      return;
    }
    Behind behind = before.BehindAs(rows, columns);
    const bool was_repairable = behind.base != nullptr;
    if (was_repairable) {
      behind.log.Add(changes);
    }
    MutexLock lock(mutex_);
    SetBehind(std::move(behind), CellsOf(rows));
    if (was_repairable && base_ == nullptr) {
      // As in FollowUnlisted.
      credit_ = std::make_shared<Credit>(0);
    }
  }

  // Follows `before`, if there was an index, over more changes than are worth a list. Credit does not last so
  // long: searches pay for what is then built from nothing, so that a grid of a single query costs no more
  // than the query looks at.
  void FollowUnlisted(const LazilyRepairedIndex& before, const BitPlane& rows) {
    if (!TakeCredit(before)) {
      return;
    }
    credit_ = std::make_shared<Credit>(0);
    MutexLock lock(mutex_);
    SetBehind({}, CellsOf(rows));
  }

  // Follows the index that `before` has or lags behind, if that is closer to this grid than what this lags
  // behind already. `rows` and `columns` are the cells of `before`, an ancestor of this grid, and `changes`
  // led from there to here. The cost is that of Follow.
  void FollowCloser(const LazilyRepairedIndex& before, const BitPlane& rows, const BitPlane& columns,
                    absl::Span<const WordChange> changes) const {
    Behind behind = before.BehindAs(rows, columns);
    if (!lags_ || behind.base == nullptr) {
      return;
    }
    behind.log.Add(changes);
    MutexLock lock(mutex_);
    if (index_ == nullptr && (base_ == nullptr || behind.log.size() < log_.size())) {
      SetBehind(std::move(behind), CellsOf(rows));
    }
  }

  // Records how often searches looked around for want of the index, if it lags. Credit is capped at what it
  // can buy.
  void RecordMisses(std::uint64_t look_arounds) const {
    if (lags_ && credit_->load(std::memory_order_relaxed) < MostCredit()) {
      credit_->fetch_add(look_arounds, std::memory_order_relaxed);
    }
  }

  // Returns the index for a search. One that lags is repaired if searches have paid for that and no other
  // thread is at it, else the result is null. make() builds the index of the current cells; repair(index,
  // rows, columns, log) does so from an index of those cells and the words that may have changed since. A
  // search that asks for an index that no ancestor grid had waits for it to be built.
  template <typename Make, typename Repair>
  const Index* Get(Make make, Repair repair) const {
    if (const Index* index = GetIfCurrent()) {
      return index;
    }
    if (!lags_) {
      return MakeNow(make, repair);
    }
    if (NeedsBackgroundBuild() || !IsWanted() || !making_.TryLock()) {
      return nullptr;
    }
    Update(make, repair, nullptr);
    making_.Unlock();
    RaiseCreditTo(MostCredit());
    return GetIfCurrent();
  }

  // Makes the index whatever it costs, after what other threads are making. Returns null if make or repair
  // stopped because of `cancelled`.
  template <typename Make, typename Repair>
  const Index* MakeNow(Make make, Repair repair, CancelFlag cancelled = nullptr) const {
    MutexLock lock(making_);
    Update(make, repair, cancelled);
    return GetIfCurrent();
  }

  // Spends credit; for callers that are not searches and make the index because it is wanted.
  void SpendCredit() const {
    const std::uint64_t price = price_.load(std::memory_order_relaxed);
    std::uint64_t credit = credit_->load(std::memory_order_relaxed);
    while (!credit_->compare_exchange_weak(credit, credit - std::min(credit, price),
                                           std::memory_order_relaxed)) {
    }
  }

  // Returns the bytes of the index, or of what a lagging one keeps, that neither a grid of these cells nor
  // `other`, if it is not null, holds anyway.
  std::size_t BytesBeyond(const LazilyRepairedIndex* other, const BitPlane& rows,
                          const BitPlane& columns) const {
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
  // A look around takes about 25 ns: two scans of a line. Building the index takes 2 ns a cell, and repairing
  // it 2 to 8 us a changed word, or less where changed words lie together.
  static constexpr std::uint64_t kCellsPerLookAround = 12;
  static constexpr std::uint64_t kLookAroundsPerWord = 150;
  // How many immediate repairs one repair by a search pays for.
  static constexpr std::uint64_t kRepairsPaid = 16;
  // A build of more cells, or a repair of more words on a grid that has more cells, takes longer than 10 ms.
  static constexpr std::size_t kMaxCellsAtOnce = std::size_t{1} << 22;
  static constexpr std::size_t kMaxWordsAtOnce = 1024;
  // Nobody waits for an overdue index, and on large open grids a look around goes farther and takes longer.
  static constexpr std::uint64_t kOverdueDiscount = 16;

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

  // What a grid lags behind; it has no value if the index can only be built anew.
  struct Behind {
    std::shared_ptr<const Base> base;
    ChangeLog log;
  };

  static std::size_t CellsOf(const BitPlane& rows) {
    return static_cast<std::size_t>(rows.width()) * static_cast<std::size_t>(rows.height());
  }

  // Returns false if there was no index.
  bool TakeCredit(const LazilyRepairedIndex& before) {
    MutexLock lock(before.mutex_);
    lags_ = before.lags_ || before.index_ != nullptr;
    is_promised_ = before.is_promised_ && before.index_ == nullptr && before.base_ == nullptr;
    credit_ = before.credit_;
    return lags_;
  }

  // Returns what a grid made from this one, which has these cells, starts from.
  Behind BehindAs(const BitPlane& rows, const BitPlane& columns) const {
    MutexLock lock(mutex_);
    if (index_ != nullptr) {
      return {std::make_shared<const Base>(Base{rows, columns, index_}), {}};
    }
    return {base_, log_};
  }

  void SetBehind(Behind behind, std::size_t cells) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::uint64_t price = cells / kCellsPerLookAround;
    if (behind.log.size() * kLookAroundsPerWord > price) {
      behind = {};
    }
    base_ = std::move(behind.base);
    log_ = std::move(behind.log);
    if (base_ != nullptr) {
      price = log_.size() * kLookAroundsPerWord;
    }
    const bool takes_long = TakesLong(cells) && (base_ == nullptr || log_.size() > kMaxWordsAtOnce);
    takes_long_.store(takes_long, std::memory_order_relaxed);
    price_.store(takes_long ? price / kOverdueDiscount : price, std::memory_order_relaxed);
  }

  template <typename Make, typename Repair>
  void Update(Make make, Repair repair, CancelFlag cancelled) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(making_) {
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
    if (IsCancelled(cancelled)) {
      return;
    }
    MutexLock lock(mutex_);
    if (credit_ == nullptr) {
      credit_ = std::make_shared<Credit>(0);
    }
    index_ = index;
    base_ = nullptr;
    log_ = {};
    current_.store(index_.get(), std::memory_order_release);
  }

  std::uint64_t MostCredit() const { return kRepairsPaid * price_.load(std::memory_order_relaxed); }

  void RaiseCreditTo(std::uint64_t enough) const {
    std::uint64_t credit = credit_->load(std::memory_order_relaxed);
    while (credit < enough && !credit_->compare_exchange_weak(credit, enough, std::memory_order_relaxed)) {
    }
  }

  Held Hold() const {
    MutexLock lock(mutex_);
    return {index_ != nullptr || base_ == nullptr ? index_ : base_->index, base_};
  }

  // Held while the index is made; mutex_ is held for as long as it takes to copy pointers. Lock order:
  // making_ before mutex_.
  mutable Mutex making_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Index> index_ ABSL_GUARDED_BY(mutex_);
  // What a repair starts from, if an ancestor grid had an index and it is not too far behind.
  mutable std::shared_ptr<const Base> base_ ABSL_GUARDED_BY(mutex_);
  mutable ChangeLog log_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<const Index*> current_ = nullptr;
  // Set by Follow and FollowUnlisted.
  bool lags_ = false;
  // Set by LeaveToBackground, and by those two until the index is made.
  bool is_promised_ = false;
  // What searches have to pay for the index, and whether it is too much work for them; go with base_ and
  // log_.
  mutable std::atomic<std::uint64_t> price_ = 0;
  mutable std::atomic<bool> takes_long_ = false;
  // Made with the first index, so that grids without one pay nothing for it. It is constant once this lags.
  mutable std::shared_ptr<Credit> credit_;
};

}  // namespace waystar::core
