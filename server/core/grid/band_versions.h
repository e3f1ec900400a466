// Version tree of copy-on-write planes; owns the bands that they share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "server/base/mutex.h"
#include "server/core/grid/band_free_list.h"
#include "server/core/grid/band_set.h"
#include "server/core/grid/band_version.h"
#include "server/core/grid/spare_tables.h"

namespace waystar::core {

// A tree of versions, each a table of bands and the set of those that it cloned. No band is counted: when a
// version is let go of
//  - and has none below it, nobody reads the bands that it cloned: they are freed, and it leaves the tree;
//  - and has one below it, nobody reads those of its bands which that one cloned again: they are freed, and
//    the others become that one's;
//  - and has several, it stays until it has one or none, with its bands, though all of them may have been
//    cloned again.
// So to make a version costs what is written to it and a pointer a band, whatever else is alive, and letting
// go of one what was written and a bit a band. The dead lists of ZFS do the same for snapshots in a row:
// Bonwick, Ahrens et al., "The Zettabyte File System" (2003).
//
// Thread safety: any method from any thread, but for what is said of open versions.
template <typename T>
class BandVersions : public std::enable_shared_from_this<BandVersions<T>> {
 public:
  using Version = BandVersion<T>;
  // Who has one reads the version.
  using Held = std::shared_ptr<Version>;

  // Of planes of as many bands, which are all `band` at first.
  BandVersions(std::size_t bands, std::vector<T> band)
      : bands_(bands),
        first_band_(std::move(band)),
        max_stock_(kKeepsStock ? std::min(bands / 8, kMaxStockBytes / band_bytes()) : 0) {}

  // The version that all others come of. To be called once.
  Held Begin() {
    auto first = std::make_unique<Version>(*this, bands_);
    first->starts.reset(new T*[bands_]);
    std::fill_n(first->starts.get(), bands_, first_band_.data());
    first->is_open = false;
    return Hold(std::move(first));
  }

  // An open version, for one thread, that is equal to `parent`. `stock` is given bands to clone into.
  Held Branch(Version& parent, BandFreeList<T>& stock) {
    auto version = std::make_unique<Version>(*this, bands_);
    version->parent = &parent;
    std::optional<Spare> spare;
    {
      MutexLock lock(mutex_);
      spare = spare_tables_.TakeNearest(parent, bands_);
      stock = std::move(stock_);
    }
    if (spare) {
      version->starts = std::move(spare->starts);
      spare->but_for.ForEach([&](std::size_t band) { version->starts[band] = parent.starts[band]; });
    } else {
      version->starts.reset(new T*[bands_]);
      std::copy_n(parent.starts.get(), bands_, version->starts.get());
    }
    {
      MutexLock lock(mutex_);
      parent.children.push_back(version.get());
    }
    return Hold(std::move(version));
  }

  // Gives an open version a band of its own in place of one that it shares.
  void Clone(Version& open, std::size_t band, BandFreeList<T>& stock) const {
    T* const clone = stock.Take(first_band_.size());
    std::copy_n(open.starts[band], first_band_.size(), clone);
    open.starts[band] = clone;
    open.own.Add(band);
  }

  // From now on the version stays as it is. What is left of the stock is kept for the next.
  void Close(Version& open, BandFreeList<T> stock) {
    Garbage garbage;
    MutexLock lock(mutex_);
    open.is_open = false;
    Dissolve(open.parent, garbage);
    stock.MoveTo(stock_, max_stock_);
    garbage.bands.MoveTo(stock_, max_stock_);
  }

  // The bands in which they differ, if one came of the other not too many versions ago, and both are closed.
  std::optional<BandSet> Between(const Version& a, const Version& b) const {
    MutexLock lock(mutex_);
    std::optional<BandSet> bands = Above(a, b);
    return bands ? std::move(bands) : Above(b, a);
  }

  // What all bands of the first version are. It is kept as long as the family.
  const T* first_band() const { return first_band_.data(); }
  std::size_t band_bytes() const { return first_band_.size() * sizeof(T); }

  // What a version takes besides its bands; spare memory is not counted.
  static constexpr std::size_t BytesFor(std::size_t bands) {
    return sizeof(Version) + bands * sizeof(T*) + BandSet::BytesFor(bands);
  }

 private:
  using Spare = typename SpareTables<T>::Spare;

  // What is no longer in use, to be freed without the mutex; within it if there is no memory to remember it.
  struct Garbage {
    BandFreeList<T> bands;
    std::vector<std::unique_ptr<Version>> versions;
    std::vector<Spare> tables;

    void Add(std::unique_ptr<Version> version) noexcept {
      try {
        versions.push_back(std::move(version));
      } catch (const std::bad_alloc&) {
      }
    }
  };

  // A table of so few bands is copied faster than changes are followed.
  static constexpr std::size_t kMaxSmall = 1024;
  // Unused bands that are kept: an eighth of as many as a plane has, and a megabyte at the most. The
  // sanitizer finds who reads a band that is not in use only if it is freed.
  static constexpr std::size_t kMaxStockBytes = std::size_t{1} << 20;
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  static constexpr bool kKeepsStock = false;
#else
  static constexpr bool kKeepsStock = true;
#endif
  // To look at every band takes less time than to go farther.
  static constexpr int kMaxSteps = 64;

  Held Hold(std::unique_ptr<Version> version) {
    return Held(version.release(),
                [family = this->shared_from_this()](Version* gone) { family->LetGo(*gone); });
  }

  void LetGo(Version& version) {
    Garbage garbage;
    MutexLock lock(mutex_);
    version.is_held = false;
    Dissolve(&version, garbage);
    garbage.bands.MoveTo(stock_, max_stock_);
  }

  // Takes `version`, if it may go, out of the tree, and those that may go then. It lets no exception out,
  // since destructors call it.
  void Dissolve(Version* version, Garbage& garbage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (version != nullptr && !version->is_held && version->children.size() <= 1) {
      Version* const parent = version->parent;
      Version* left = parent;
      if (version->children.empty()) {
        version->own.ForEach([&](std::size_t band) { garbage.bands.Put(version->starts[band]); });
        if (parent != nullptr) {
          std::erase(parent->children, version);
          KeepTable(*version, *parent, version->own, garbage);
        }
      } else {
        left = version->children.front();
        // What it is yet to clone is not known.
        if (left->is_open) {
          return;
        }
        version->own.ForEachInBoth(left->own,
                                   [&](std::size_t band) { garbage.bands.Put(version->starts[band]); });
        KeepTable(*version, *left, left->own, garbage);
        left->own.AddAll(version->own);
        version->GiveWayTo(left);
      }
      garbage.Add(std::unique_ptr<Version>(version));
      version = left;
    }
  }

  void KeepTable(Version& gone, const Version& left, const BandSet& but_for, Garbage& garbage)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (bands_ <= kMaxSmall) {
      return;
    }
    try {
      garbage.tables.push_back(spare_tables_.Inherit(gone, left, but_for));
    } catch (const std::bad_alloc&) {
      // None may be like a version that is gone.
      spare_tables_.Clear();
    }
  }

  // What was cloned from `above` down to `version`.
  std::optional<BandSet> Above(const Version& version, const Version& above) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    BandSet bands(bands_);
    int steps = 0;
    for (const Version* at = &version; at != &above; at = at->parent) {
      if (at == nullptr || at->is_open || ++steps > kMaxSteps) {
        return std::nullopt;
      }
      bands.AddAll(at->own);
    }
    return bands;
  }

  const std::size_t bands_;
  std::vector<T> first_band_;
  const std::size_t max_stock_;
  mutable Mutex mutex_;
  SpareTables<T> spare_tables_ ABSL_GUARDED_BY(mutex_);
  BandFreeList<T> stock_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
