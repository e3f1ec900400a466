// Lazily repaired index: an index over walkable cells that is repaired once searches have paid for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/bit_plane.h"

namespace waystar::core {

// Cancellation request: a flag that any thread may set, or a StopCheck. Work that is cancelled stops soon,
// with an undefined partial result. A CancelFlag made from null never cancels.
class CancelFlag {
 public:
  // Implicit, so that callers can pass a flag or a check directly.
  // NOLINTBEGIN(google-explicit-constructor)
  CancelFlag(std::nullptr_t) {}
  CancelFlag(const std::atomic<bool>* flag) : flag_(flag) {}
  CancelFlag(const StopCheck* stop) : stop_(stop) {}
  // NOLINTEND(google-explicit-constructor)

  bool IsSet() const {
    return (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) || IsStopped(stop_);
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  const StopCheck* stop_ = nullptr;
};

inline bool IsCancelled(CancelFlag flag) { return flag.IsSet(); }

// Copy-on-write set of words. It is stored as sorted runs, each at least twice as long as the next, so that a
// copy costs a few pointers and adding a word costs amortized O(log n) moves: O'Neil, Cheng, Gawlick and
// O'Neil, "The Log-Structured Merge-Tree" (1996).
//
// Thread safety: const methods are thread-safe.
class ChangeLog {
 public:
  // Returns the approximate number of words: a word in two runs counts twice.
  std::size_t size() const { return size_; }

  void Add(absl::Span<const WordChange> changes) {
    std::vector<WordIndex> words;
    words.reserve(changes.size());
    for (const WordChange& change : changes) {
      words.push_back({change.y, change.index});
    }
    std::sort(words.begin(), words.end());
    while (!runs_.empty() && runs_.back()->size() < 2 * words.size()) {
      words = Union(*runs_.back(), words);
      runs_.pop_back();
    }
    runs_.push_back(std::make_shared<const std::vector<WordIndex>>(std::move(words)));
    size_ = 0;
    for (const Run& run : runs_) {
      size_ += run->size();
    }
  }

  // Returns the differences between `before` and `now` in the words of the log, in ascending order.
  std::vector<WordChange> Differences(const BitPlane& before, const BitPlane& now) const {
    std::vector<WordIndex> words;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      words = Union(**run, words);
    }
    std::vector<WordChange> changes;
    for (const WordIndex& word : words) {
      const auto i = static_cast<std::size_t>(word.index);
      const Word flipped = before.row(word.y)[i] ^ now.row(word.y)[i];
      if (flipped != 0) {
        changes.push_back({word.y, word.index, flipped});
      }
    }
    return changes;
  }

 private:
  using Run = std::shared_ptr<const std::vector<WordIndex>>;

  static std::vector<WordIndex> Union(const std::vector<WordIndex>& a, const std::vector<WordIndex>& b) {
    std::vector<WordIndex> both;
    both.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }

  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

// Searches work without the index at a price: they look around at cells where the index would have shown that
// there is nothing to find. The index of a changed grid is therefore not always made at once. It may lag
// behind: the grid keeps the last index made, the cells that it was made from, and the words that changed
// since. Searches record the look-arounds that the index spared them, or would have spared them. All grids
// made from each other share an account of that. A repair has a price, also in look-arounds, which follows
// from the work that earlier repairs counted.
//
// A change of the grid repairs a current index at once if, on average, the searches between two changes are
// spared as much as that costs (PaysAtOnce). Otherwise the index lags. Then the account has a credit: what
// searches would have been spared since, less the work to follow the changes since. The index is made once
// the credit reaches its price (IsWanted): one rents until the rent has reached the price, as in Karlin,
// Manasse, Rudolph and Sleator, "Competitive Snoopy Caching" (1988). A map that changes faster than it is
// searched, or on which the index is useless, pays almost nothing.
//
// An Index counts the work of its own repair: repair_work(), in look-arounds.
//
// Nobody waits for a repair. A search that wants the index while another thread makes it runs without it, and
// an edit meanwhile starts from the previous index.
//
// On a large grid, where a search would have to work for more than about 10 ms, the index is overdue and left
// to a background thread (MakeNow). When that is done, the grid may have been replaced many times; the latest
// grid then follows the new index (FollowCloser). The same applies to the first index of a large grid that
// must serve queries at once (LeaveToBackground).
//
// Thread safety: thread-safe, except Follow, FollowUnlisted and LeaveToBackground.
template <typename Index>
class LazilyRepairedIndex {
 public:
  // Returns the index, or null if it was never built or needs a repair.
  const Index* GetIfCurrent() const { return current_.load(std::memory_order_acquire); }

  // Returns true if this index or a predecessor was ever made or requested.
  bool IsAskedFor() const { return lags_ || GetIfCurrent() != nullptr; }

  // Returns true if searches have paid for the index that lags.
  bool IsWanted() const {
    return lags_ &&
           account_->credit.load(std::memory_order_relaxed) >= price_.load(std::memory_order_relaxed);
  }

  // Returns true if Follow found that a repair at once pays: searches between two changes are spared as much
  // as it costs.
  bool PaysAtOnce() const { return pays_at_once_; }

  // Returns true if building the index of that many cells takes longer than a search may wait.
  static bool TakesLong(std::size_t cells) { return cells > kMaxCellsAtOnce; }

  // Leaves the first build to a background thread, as if searches had paid for it.
  // REQUIRES: no other thread has access to this index; it was not made; TakesLong(the cells of `rows`).
  void LeaveToBackground(const BitPlane& rows) {
    lags_ = true;
    is_promised_ = true;
    MutexLock lock(mutex_);
    account_ = std::make_shared<Account>();
    SetBehind({}, CellsOf(rows));
    account_->credit = price_.load(std::memory_order_relaxed);
  }

  // Returns the size of an index that LeaveToBackground left, here or on a predecessor; 0 once it is made, or
  // was made and is too far behind to be repaired. `rows` are the cells.
  std::size_t PromisedBytes(const BitPlane& rows) const {
    return is_promised_ && Hold().index == nullptr ? Index::BytesFor(CellsOf(rows)) : 0;
  }

  // Returns true if it lags so far behind that only a background thread should make it.
  bool NeedsBackgroundBuild() const {
    return lags_ && takes_long_.load(std::memory_order_relaxed) && GetIfCurrent() == nullptr;
  }

  // Lets this lag behind `before`, the index of another grid with the cells `rows` and `columns`, which
  // `changes` turned into this grid. Cost is a few pointers plus the changes.
  // REQUIRES: no other thread has access to this index.
  void Follow(const LazilyRepairedIndex& before, const BitPlane& rows, const BitPlane& columns,
              absl::Span<const WordChange> changes) {
    if (!TakeAccount(before)) {
      return;
    }
    const bool is_followed = before.GetIfCurrent() != nullptr;
    const bool pays = account_->EndInterval(changes.size(), is_followed, is_promised_);
    Behind behind = before.BehindAs(rows, columns);
    const bool was_repairable = behind.base != nullptr;
    if (was_repairable) {
      behind.log.Add(changes);
    }
    MutexLock lock(mutex_);
    SetBehind(std::move(behind), CellsOf(rows));
    if (was_repairable && base_ == nullptr) {
      // As in FollowUnlisted.
      account_ = std::make_shared<Account>();
    }
    pays_at_once_ =
        base_ != nullptr && !takes_long_.load(std::memory_order_relaxed) && (is_followed ? pays : IsWanted());
  }

  // As Follow, after too many changes to list. The account starts again: searches pay for the rebuild, so
  // that a grid used for a single query costs only as much as the query reads.
  void FollowUnlisted(const LazilyRepairedIndex& before, const BitPlane& rows) {
    if (!TakeAccount(before)) {
      return;
    }
    account_ = std::make_shared<Account>();
    MutexLock lock(mutex_);
    SetBehind({}, CellsOf(rows));
  }

  // Replaces the index that this lags behind by the one that `before` has or lags behind, if that is closer
  // to this grid. `before` is the index of an ancestor of this grid with the cells `rows` and `columns`;
  // `changes` lead from there to here. Cost is that of Follow.
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

  // Records the look-arounds that the index spared a search of this grid, which has that many cells, or would
  // have spared it, if the index was ever made. Between two changes they count up to the price of building
  // the index, so that many searches do not buy repairs long after the last of them.
  void RecordSpared(std::uint64_t look_arounds, std::size_t cells) const {
    if (!IsAskedFor()) {
      return;
    }
    if (account_->spared_since_change.load(std::memory_order_relaxed) < cells / kCellsPerLookAround) {
      account_->spared_since_change.fetch_add(look_arounds, std::memory_order_relaxed);
    }
    if (GetIfCurrent() == nullptr) {
      account_->credit.fetch_add(look_arounds, std::memory_order_relaxed);
    }
  }

  // Returns the index for a search. If it lags, it is repaired if searches have paid for that and no other
  // thread is making it; otherwise the result is null. make() builds the index of the current cells;
  // repair(index, rows, columns, log) repairs one of those cells, given the words that may have changed
  // since. If no ancestor grid had the index, the search waits until it is built.
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
    return GetIfCurrent();
  }

  // Makes the index at any cost, after waiting for other threads that are making it. Returns null if make or
  // repair stopped because of `cancelled`.
  template <typename Make, typename Repair>
  const Index* MakeNow(Make make, Repair repair, CancelFlag cancelled = nullptr) const {
    MutexLock lock(making_);
    Update(make, repair, cancelled);
    return GetIfCurrent();
  }

  // Returns the bytes of the index, or of what a lagging one keeps, that neither a grid of these cells nor
  // `other`, which may be null, holds.
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
  // A look-around takes 5 to 25 ns, and building 2 ns per cell.
  static constexpr std::uint64_t kCellsPerLookAround = 12;
  // Building more cells, or repairing more words on a grid of more cells, takes longer than 10 ms.
  static constexpr std::size_t kMaxCellsAtOnce = std::size_t{1} << 22;
  static constexpr std::size_t kMaxWordsAtOnce = 1024;
  // Discount for an overdue index: nobody waits for it, and on large open grids a look-around takes longer.
  static constexpr std::uint64_t kOverdueDiscount = 16;

  // In look-arounds. Concurrent changes of related grids may lose some updates.
  struct Account {
    // Look-arounds that searches would have been spared since the index lags, less the work to follow the
    // changes since.
    std::atomic<std::uint64_t> credit = 0;
    // Look-arounds that searches were spared, or would have been, since the last change.
    std::atomic<std::uint64_t> spared_since_change = 0;
    // Averages: what searches were spared between two changes, the words of a change, and the work and words
    // of a repair. They are moving averages: a new value counts a quarter.
    std::atomic<std::uint64_t> spared = 0;
    std::atomic<std::uint64_t> changed_words = 0;
    std::atomic<std::uint64_t> repair_work = 800;
    std::atomic<std::uint64_t> repaired_words = 20;

    static std::uint64_t Average(std::atomic<std::uint64_t>& of, std::uint64_t latest) {
      const std::uint64_t before = of.load(std::memory_order_relaxed);
      const std::uint64_t now = before == 0 ? latest : (3 * before + latest) / 4;
      of.store(now, std::memory_order_relaxed);
      return now;
    }

    // Returns what it takes to repair so many words.
    std::uint64_t WorkFor(std::uint64_t words) const {
      return words * repair_work.load(std::memory_order_relaxed) /
             std::max<std::uint64_t>(repaired_words.load(std::memory_order_relaxed), 1);
    }

    // Notes a change of so many words, of a grid whose index is current, is promised to a background thread,
    // or lags. Returns true if repairs after every change pay.
    bool EndInterval(std::size_t words, bool is_current, bool is_promised) {
      const std::uint64_t gain = Average(spared, spared_since_change.exchange(0, std::memory_order_relaxed));
      const std::uint64_t cost = WorkFor(Average(changed_words, words));
      const std::uint64_t before = credit.load(std::memory_order_relaxed);
      const std::uint64_t spent = is_current ? before : is_promised ? 0 : std::min(before, WorkFor(words));
      credit.store(before - spent, std::memory_order_relaxed);
      return gain >= cost;
    }

    void Learn(std::uint64_t work, std::size_t words) {
      Average(repair_work, work);
      Average(repaired_words, words);
    }
  };

  struct Base {
    BitPlane rows;
    BitPlane columns;
    std::shared_ptr<const Index> index;
  };

  struct Held {
    std::shared_ptr<const Index> index;
    std::shared_ptr<const Base> base;
  };

  // State that a grid lags behind; `base` is null if the index can only be rebuilt.
  struct Behind {
    std::shared_ptr<const Base> base;
    ChangeLog log;
  };

  static std::size_t CellsOf(const BitPlane& rows) {
    return static_cast<std::size_t>(rows.width()) * static_cast<std::size_t>(rows.height());
  }

  // Takes over the account of `before`. Returns false if that has no index and lags behind none.
  bool TakeAccount(const LazilyRepairedIndex& before) {
    MutexLock lock(before.mutex_);
    lags_ = before.lags_ || before.index_ != nullptr;
    is_promised_ = before.is_promised_ && before.index_ == nullptr && before.base_ == nullptr;
    account_ = before.account_;
    return lags_;
  }

  // Returns the state from which the index of a grid derived from this one, which has these cells, starts.
  Behind BehindAs(const BitPlane& rows, const BitPlane& columns) const {
    MutexLock lock(mutex_);
    if (index_ != nullptr) {
      return {std::make_shared<const Base>(Base{rows, columns, index_}), {}};
    }
    return {base_, log_};
  }

  void SetBehind(Behind behind, std::size_t cells) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::uint64_t price_of_building = cells / kCellsPerLookAround;
    const std::uint64_t price_of_repair = account_->WorkFor(behind.log.size());
    if (price_of_repair > price_of_building) {
      behind = {};
    }
    base_ = std::move(behind.base);
    log_ = std::move(behind.log);
    const std::uint64_t price = base_ == nullptr ? price_of_building : price_of_repair;
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
    if (account_ == nullptr) {
      account_ = std::make_shared<Account>();
    }
    account_->credit.store(0, std::memory_order_relaxed);
    if (base != nullptr) {
      account_->Learn(index->repair_work(), log.size());
    }
    index_ = index;
    base_ = nullptr;
    log_ = {};
    current_.store(index_.get(), std::memory_order_release);
  }

  Held Hold() const {
    MutexLock lock(mutex_);
    return {index_ != nullptr || base_ == nullptr ? index_ : base_->index, base_};
  }

  // making_ is held while the index is made, mutex_ only while pointers are copied. Lock order: making_
  // before mutex_.
  mutable Mutex making_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Index> index_ ABSL_GUARDED_BY(mutex_);
  // Start of a repair; null unless an ancestor grid had an index that is not too far behind.
  mutable std::shared_ptr<const Base> base_ ABSL_GUARDED_BY(mutex_);
  mutable ChangeLog log_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<const Index*> current_ = nullptr;
  // True if there is an index to repair or rebuild: set by Follow, FollowUnlisted and LeaveToBackground.
  bool lags_ = false;
  // Set by Follow.
  bool pays_at_once_ = false;
  // Set by LeaveToBackground; inherited by Follow and FollowUnlisted until the index is made.
  bool is_promised_ = false;
  // Price of the index for searches, and whether making it takes too long for a search. Updated with base_
  // and log_.
  mutable std::atomic<std::uint64_t> price_ = 0;
  mutable std::atomic<bool> takes_long_ = false;
  // Created with the first index, so that grids without one pay nothing. Constant once this lags.
  mutable std::shared_ptr<Account> account_;
};

}  // namespace waystar::core
