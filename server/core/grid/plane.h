// A two-dimensional array that its copies share until they change it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "server/core/grid/band_free_list.h"
#include "server/core/grid/band_set.h"
#include "server/core/grid/band_versions.h"

namespace waystar::core {

// Rows of `stride` values, kept in bands of a few rows. Copying a plane copies a few pointers. The first
// write to a copy, through a PlaneWriter, makes a table of where the bands begin, by which rows are read;
// each write clones the band that it writes to. A plane whose rows all started alike holds one band.
//
// Thread safety: const methods may run beside each other, and beside a PlaneWriter of another copy.
template <typename T>
class Plane {
 public:
  Plane() = default;

  // Makes a plane each of whose rows is `pattern`.
  Plane(int rows, absl::Span<const T> pattern)
      : Plane(rows, pattern, UsualBandBytes(rows, pattern.size() * sizeof(T))) {}
  // As above, in bands of about the given size, but of one row at least.
  Plane(int rows, absl::Span<const T> pattern, std::size_t target_band_bytes)
      : stride_(pattern.size()), shift_(BandShift(pattern.size() * sizeof(T), rows, target_band_bytes)) {
    const std::size_t rows_per_band = std::size_t{1} << shift_;
    std::vector<T> band;
    band.reserve(rows_per_band * stride_);
    for (std::size_t row = 0; row < rows_per_band; ++row) {
      band.insert(band.end(), pattern.begin(), pattern.end());
    }
    bands_ = (static_cast<std::size_t>(rows) + rows_per_band - 1) >> shift_;
    Read(std::make_shared<BandVersions<T>>(bands_, std::move(band))->Begin());
  }

  const T* row(int y) const {
    const auto row = static_cast<std::size_t>(y);
    return starts_[row >> shift_] + (row & Mask()) * stride_;
  }

  // Return the row above or below row `from`, which lies at `pointer`, if it is in the same band, else null.
  // They are quicker than row().
  const T* RowAbove(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != 0 ? pointer - stride_ : nullptr;
  }
  const T* RowBelow(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != Mask() ? pointer + stride_ : nullptr;
  }

  // Calls visit(y), in ascending order, for the rows of this plane, which has `rows`, that lie in bands which
  // `other` does not hold. It costs a bit a band, or a pointer if neither plane was recently made from the
  // other. REQUIRES: one was made from the other by copying and writing.
  template <typename Visitor>
  void ForEachUnsharedRow(const Plane& other, int rows, Visitor visit) const {
    ForEachUnsharedBand(other, [&](std::size_t band) {
      const int end = std::min(rows, static_cast<int>((band + 1) << shift_));
      for (int y = static_cast<int>(band << shift_); y < end; ++y) {
        visit(y);
      }
    });
  }

  // Returns the bytes held. A band that several parts of this plane share is counted once.
  std::size_t memory_bytes() const { return BytesBeyond({}); }

  // Returns the bytes held that `other` does not hold. REQUIRES: `other` is of the same size, or empty.
  std::size_t BytesBeyond(const Plane& other) const {
    if (version_ == nullptr || version_ == other.version_) {
      return 0;
    }
    const BandVersions<T>& family = version_->family;
    std::size_t bytes = BandVersions<T>::BytesFor(bands_) + (IsRelated(other) ? 0 : family.band_bytes());
    ForEachUnsharedBand(other, [&](std::size_t band) {
      bytes += starts_[band] != family.first_band() ? family.band_bytes() : 0;
    });
    return bytes;
  }

 private:
  template <typename>
  friend class PlaneWriter;
  using Version = typename BandVersions<T>::Held;

  // Bands are small enough to be cloned in 0.1 to 0.2 microseconds, since each of a few scattered cells on a
  // large map touches a band; but a search is quicker if the next row lies in the same band. On planes that
  // hardly fit into a cache a clone waits for memory, and the way to the next row is little of what a search
  // waits for. Where a band would have two rows, searches were no slower with one.
  static constexpr std::size_t kTargetBandBytes = std::size_t{4} * 1024;
  static constexpr std::size_t kLargePlaneBytes = std::size_t{1} << 20;
  static constexpr std::size_t kTargetBandBytesOfLarge = std::size_t{2} * 1024;
  static constexpr std::size_t kHugePlaneBytes = std::size_t{8} << 20;
  static constexpr std::size_t kTargetBandBytesOfHuge = std::size_t{1} * 1024;
  static constexpr std::size_t UsualBandBytes(int rows, std::size_t row_bytes) {
    const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes;
    return bytes > kHugePlaneBytes    ? kTargetBandBytesOfHuge
           : bytes > kLargePlaneBytes ? kTargetBandBytesOfLarge
                                      : kTargetBandBytes;
  }

  static int BandShift(std::size_t row_bytes, int rows, std::size_t target_band_bytes) {
    const std::size_t fitting = std::max<std::size_t>(1, target_band_bytes / row_bytes);
    const std::size_t useful =
        std::min(std::bit_floor(fitting), std::bit_ceil(static_cast<std::size_t>(rows)));
    return std::countr_zero(useful);
  }

  bool IsRelated(const Plane& other) const {
    return other.version_ != nullptr && &version_->family == &other.version_->family;
  }

  // Calls visit(band) in ascending order.
  template <typename Visitor>
  void ForEachUnsharedBand(const Plane& other, Visitor visit) const {
    if (version_ == other.version_) {
      return;
    }
    if (IsRelated(other)) {
      if (const std::optional<BandSet> bands = version_->family.Between(*version_, *other.version_)) {
        bands->ForEach(visit);
        return;
      }
    }
    for (std::size_t band = 0; band < bands_; ++band) {
      if (other.version_ == nullptr || starts_[band] != other.starts_[band]) {
        visit(band);
      }
    }
  }

  void Read(Version version) {
    version_ = std::move(version);
    starts_ = version_->starts.get();
  }

  std::size_t Mask() const { return (std::size_t{1} << shift_) - 1; }

  std::size_t stride_ = 0;
  int shift_ = 0;
  std::size_t bands_ = 0;
  // Where each band begins, and the version that keeps the bands alive.
  T* const* starts_ = nullptr;
  Version version_;
};

// Writes to one plane, making it the sole owner of each band that it touches. A writer belongs to one thread.
// While it lives the plane must not be copied, but may be destroyed. It costs nothing until it writes.
template <typename T>
class PlaneWriter {
 public:
  explicit PlaneWriter(Plane<T>& plane) : plane_(plane) {}
  PlaneWriter(const PlaneWriter&) = delete;
  PlaneWriter& operator=(const PlaneWriter&) = delete;
  ~PlaneWriter() { Release(); }

  T* row(int y) {
    const auto row = static_cast<std::size_t>(y);
    const std::size_t band = row >> plane_.shift_;
    if (open_ == nullptr || !open_->own.Contains(band)) {
      Own(band);
    }
    return open_->starts[static_cast<std::ptrdiff_t>(band)] + (row & plane_.Mask()) * plane_.stride_;
  }

  // Sets value `index` of row y. It clones nothing if the value is the same already.
  void Set(int y, std::size_t index, T value) {
    if (plane_.row(y)[index] != value) {
      row(y)[index] = value;
    }
  }

  // Lets the plane be copied. Copies share what was written so far, and further writes clone again.
  void Release() {
    if (open_ != nullptr) {
      open_->family.Close(*open_, std::move(stock_));
      open_ = nullptr;
    }
  }

 private:
  // Apart, so that row() is short enough to be part of the loops that write.
  ABSL_ATTRIBUTE_NOINLINE void Own(std::size_t band) {
    if (open_ == nullptr) {
      open_ = plane_.version_->family.Branch(*plane_.version_, stock_);
      plane_.Read(open_);
    }
    if (!open_->own.Contains(band)) {
      open_->family.Clone(*open_, band, stock_);
    }
  }

  Plane<T>& plane_;
  // Null before the first write.
  typename Plane<T>::Version open_;
  // The free list that clones take their bands from.
  BandFreeList<T> stock_;
};

}  // namespace waystar::core
