// Version tree of copy-on-write planes; owns the bands that they share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "server/base/mutex.h"

namespace waystar::core {

// Set of a plane's bands, one bit per band.
//
// Thread safety: const methods may run concurrently.
class BandSet {
 public:
  BandSet() = default;
  // Makes an empty set for band numbers below `bands`.
  explicit BandSet(std::size_t bands) : words_((bands + kWordBits - 1) / kWordBits) {}

  bool Contains(std::size_t band) const { return (words_[band / kWordBits] >> (band % kWordBits) & 1U) != 0; }
  void Add(std::size_t band) { words_[band / kWordBits] |= std::uint64_t{1} << (band % kWordBits); }

  // REQUIRES, for AddAll and ForEachInBoth: `other` was made for the same number of bands.
  void AddAll(const BandSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
  }
  // Calls visit(band) in ascending order for the bands in both sets.
  template <typename Visitor>
  void ForEachInBoth(const BandSet& other, Visitor visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      VisitWord(i, words_[i] & other.words_[i], visit);
    }
  }

  // Calls visit(band) for each band of the set in ascending order.
  template <typename Visitor>
  void ForEach(Visitor visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      VisitWord(i, words_[i], visit);
    }
  }

  static constexpr std::size_t BytesFor(std::size_t bands) {
    return (bands + kWordBits - 1) / kWordBits * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t kWordBits = 64;

  template <typename Visitor>
  static void VisitWord(std::size_t index, std::uint64_t bits, Visitor& visit) {
    for (; bits != 0; bits &= bits - 1) {
      visit(index * kWordBits + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }

  std::vector<std::uint64_t> words_;
};

template <typename T>
class BandVersions;

// One version of a plane: a table of pointers to its bands, and a node of the version tree. The tree
// determines when a band may be freed. A band is used by the version that cloned it and by its descendants,
// except those that cloned it again and their descendants.
//
// Thread safety: `starts` and `own` belong to the single writer until the version is closed. After that
// `starts` is constant for all holders of the version, and `own` and the other fields are guarded by the
// mutex of BandVersions.
template <typename T>
struct BandVersion {
  BandVersion(BandVersions<T>& family_of_it, std::size_t bands) : family(family_of_it), own(bands) {}
  BandVersion(const BandVersion&) = delete;
  BandVersion& operator=(const BandVersion&) = delete;

  // Puts `other`, its only child, into its place in the tree.
  void GiveWayTo(BandVersion* other) {
    other->parent = parent;
    if (parent != nullptr) {
      std::replace(parent->children.begin(), parent->children.end(), this, other);
    }
  }

  BandVersions<T>& family;
  std::unique_ptr<T*[]> starts;
  // Bands cloned by this version. Ancestors do not use them.
  BandSet own;
  BandVersion* parent = nullptr;
  std::vector<BandVersion*> children;
  // True while a plane or its writer holds the version.
  bool is_held = true;
  // True until the version is closed.
  bool is_open = true;
};

// Stack of bands, each allocated with new T[]; owns them. Reusing a band is faster than allocating one, and
// the band freed last is the likeliest to be in the CPU cache.
//
// Not thread-safe.
template <typename T>
class BandFreeList {
 public:
  BandFreeList() = default;
  BandFreeList(BandFreeList&& other) noexcept : bands_(std::exchange(other.bands_, {})) {}
  BandFreeList& operator=(BandFreeList&& other) noexcept {
    std::swap(bands_, other.bands_);
    return *this;
  }
  ~BandFreeList() {
    for (T* const band : bands_) {
      delete[] band;
    }
  }

  // Returns a band of `values` uninitialized values, allocated if the list is empty.
  // REQUIRES: all bands in the list have this size.
  T* Take(std::size_t values) {
    if (bands_.empty()) {
      return new T[values];
    }
    T* const band = bands_.back();
    bands_.pop_back();
    return band;
  }

  // Adds the band to the list, or frees it if the list cannot grow.
  void Put(T* band) noexcept {
    try {
      bands_.push_back(band);
    } catch (const std::bad_alloc&) {
      delete[] band;
    }
  }

  // Moves bands to `other` until that holds `limit`. Moves none if `other` cannot grow.
  void MoveTo(BandFreeList& other, std::size_t limit) noexcept {
    if (other.bands_.empty() && bands_.size() <= limit) {
      std::swap(bands_, other.bands_);
      return;
    }
    const std::size_t room = limit - std::min(limit, other.bands_.size());
    const auto first = bands_.end() - static_cast<std::ptrdiff_t>(std::min(room, bands_.size()));
    try {
      other.bands_.insert(other.bands_.end(), first, bands_.end());
    } catch (const std::bad_alloc&) {
      return;
    }
    bands_.erase(first, bands_.end());
  }

 private:
  std::vector<T*> bands_;
};

// Cache of spare band tables. Copying a version's whole table is slow on a large plane with few changes. A
// spare table refers to a live version and lists the bands in which it differs from that version's table, so
// that only these are copied.
//
// Not thread-safe.
template <typename T>
class SpareTables {
 public:
  struct Spare {
    std::unique_ptr<T*[]> starts;
    const BandVersion<T>* like = nullptr;
    BandSet but_for;
  };

  // Removes and returns the spare of `version` or its nearest ancestor, with its differences from `version`.
  // Returns nullopt if there is none within kMaxSteps versions.
  std::optional<Spare> TakeNearest(const BandVersion<T>& version, std::size_t bands) {
    if (spares_.empty()) {
      return std::nullopt;
    }
    BandSet but_for(bands);
    const BandVersion<T>* at = &version;
    for (int steps = 0; at != nullptr && !at->is_open && steps < kMaxSteps; ++steps) {
      const auto found = std::ranges::find(spares_, at, &Spare::like);
      if (found != spares_.end()) {
        Spare spare = std::move(*found);
        spares_.erase(found);
        spare.like = &version;
        spare.but_for.AddAll(but_for);
        return spare;
      }
      but_for.AddAll(at->own);
      at = at->parent;
    }
    return std::nullopt;
  }

  // Adds the table of `gone`. It and all spares related to `gone` are now related to `left`, with `bands` as
  // additional differences. Removes and returns the oldest spare if there are more than kMaxSpares.
  Spare Inherit(BandVersion<T>& gone, const BandVersion<T>& left, const BandSet& bands) {
    for (Spare& spare : spares_) {
      if (spare.like == &gone) {
        spare.like = &left;
        spare.but_for.AddAll(bands);
      }
    }
    spares_.push_back({std::move(gone.starts), &left, bands});
    Spare oldest;
    if (spares_.size() > kMaxSpares) {
      oldest = std::move(spares_.front());
      spares_.erase(spares_.begin());
    }
    return oldest;
  }

  void Clear() { spares_.clear(); }

 private:
  static constexpr std::size_t kMaxSpares = 2;
  // Maximum number of versions searched; in older ones too many bands differ.
  static constexpr int kMaxSteps = 16;

  // Spares, oldest first.
  std::vector<Spare> spares_;
};

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

  // Gives an open version its own copy of a shared band.
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

  // Returns the bands in which the two versions differ, or nullopt if a version is open or neither descends
  // from the other within kMaxSteps versions.
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

  // Maximum number of bands without spare tables: copying a small table is faster than tracking changes.
  static constexpr std::size_t kMaxSmall = 1024;
  // Limit of the free list: an eighth of a plane's bands, at most 1 MiB. Disabled under the address
  // sanitizer, which detects reads of a band only after it is freed.
  static constexpr std::size_t kMaxStockBytes = std::size_t{1} << 20;
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  static constexpr bool kKeepsStock = false;
#else
  static constexpr bool kKeepsStock = true;
#endif
  // Maximum number of versions that Between visits; beyond it comparing every band is faster.
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

  // Returns the bands cloned by `version` and its ancestors below `above`, or nullopt unless `above` is an
  // ancestor within kMaxSteps versions.
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
