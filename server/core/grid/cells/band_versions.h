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
#include "server/core/grid/cells/band_free_list.h"
#include "server/core/grid/cells/band_set.h"
#include "server/core/grid/cells/band_version.h"
#include "server/core/grid/cells/spare_tables.h"

namespace waystar::core {

// Version tree. Each version is a table of bands and the set of bands that it cloned. Bands are not
// reference-counted. When a version is released and
// - it has no child, the bands that it cloned are freed and it leaves the tree;
// - it has one child, those of its bands that the child cloned again are freed, the child takes over the
//   others, and it leaves the tree;
// - it has several children, it stays, with all its bands, until it has at most one.
// Creating a version therefore costs one pointer per band plus what is written to it, however many versions
// exist. Releasing one costs one bit per band plus what was written. The dead lists of ZFS do the same for
// linear snapshots: Bonwick, Ahrens et al., "The Zettabyte File System" (2003).
//
// Thread safety: thread-safe, except for open versions, which belong to one thread.
template <typename T>
class BandVersions : public std::enable_shared_from_this<BandVersions<T>> {
 public:
  using Version = BandVersion<T>;
  // Reference to a version; the version stays readable while one exists.
  using Held = std::shared_ptr<Version>;

  // Creates the family of planes of `bands` bands, all equal to `band` at first.
  BandVersions(std::size_t bands, std::vector<T> band)
      : bands_(bands),
        first_band_(std::move(band)),
        max_stock_(kKeepsStock ? std::min(bands / 8, kMaxStockBytes / band_bytes()) : 0) {}

  // Returns the root version. Call once.
  Held Begin() {
    auto first = std::make_unique<Version>(*this, bands_);
    first->starts.reset(new T*[bands_]);
    std::fill_n(first->starts.get(), bands_, first_band_.data());
    first->is_open = false;
    return Hold(std::move(first));
  }

  // Returns an open version, equal to `parent`, for one thread. Moves the free bands into `stock`.
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

  // Replaces a shared band of an open version by a copy of its own.
  void Clone(Version& open, std::size_t band, BandFreeList<T>& stock) const {
    T* const clone = stock.Take(first_band_.size());
    std::copy_n(open.starts[band], first_band_.size(), clone);
    open.starts[band] = clone;
    open.own.Add(band);
  }

  // Makes the version immutable. Keeps the rest of `stock` for the next writer.
  void Close(Version& open, BandFreeList<T> stock) {
    Garbage garbage;
    MutexLock lock(mutex_);
    open.is_open = false;
    Dissolve(open.parent, garbage);
    stock.MoveTo(stock_, max_stock_);
    garbage.bands.MoveTo(stock_, max_stock_);
  }

  // Returns the bands in which the two versions differ. Returns nothing if a version is open, or if neither
  // descends from the other within kMaxSteps versions.
  std::optional<BandSet> Between(const Version& a, const Version& b) const {
    MutexLock lock(mutex_);
    std::optional<BandSet> bands = Above(a, b);
    return bands ? std::move(bands) : Above(b, a);
  }

  // Returns the initial content of every band. It lives as long as the family.
  const T* first_band() const { return first_band_.data(); }
  std::size_t band_bytes() const { return first_band_.size() * sizeof(T); }

  // Returns the memory of a version without its bands. Spare memory is not counted.
  static constexpr std::size_t BytesFor(std::size_t bands) {
    return sizeof(Version) + bands * sizeof(T*) + BandSet::BytesFor(bands);
  }

 private:
  using Spare = typename SpareTables<T>::Spare;

  // Unused memory, collected under the mutex and freed after it is released. What cannot be collected for
  // lack of memory is freed at once.
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

  // For fewer bands copying the whole table is faster than tracking the changes.
  static constexpr std::size_t kMaxSmall = 1024;
  // Limit of the free list: an eighth of a plane's bands, at most 1 MiB. Disabled under the address
  // sanitizer, which detects reads of a band only after it is freed.
  static constexpr std::size_t kMaxStockBytes = std::size_t{1} << 20;
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  static constexpr bool kKeepsStock = false;
#else
  static constexpr bool kKeepsStock = true;
#endif
  // Beyond this number of versions comparing every band is faster.
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

  // Removes `version` from the tree if it is unused, then any relatives that this makes removable. Must not
  // throw, because destructors call it.
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
        // An open child may still clone bands.
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
      // A spare must not refer to a freed version.
      spare_tables_.Clear();
    }
  }

  // Returns the bands cloned by `version` and its ancestors below `above`.
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
