// Copy-on-write two-dimensional array.
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
#include "server/core/grid/cells/band_versions.h"

namespace waystar::core {

// Rows of `stride` values, stored in bands of a few rows. Copying a plane copies a few pointers. The first
// write to a copy, through a PlaneWriter, copies its table of bands; each write clones the band that it
// changes. A plane of equal rows holds a single band.
//
// Thread safety: const methods may run concurrently with each other and with a PlaneWriter of another copy.
template <typename T>
class Plane {
 public:
  Plane() = default;

  // Makes a plane in which every row is `pattern`.
  Plane(int rows, absl::Span<const T> pattern)
      : Plane(rows, pattern, UsualBandBytes(rows, pattern.size() * sizeof(T))) {}
  // As above, with bands of about the given size but at least one row.
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
  // Faster than row().
  const T* RowAbove(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != 0 ? pointer - stride_ : nullptr;
  }
  const T* RowBelow(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != Mask() ? pointer + stride_ : nullptr;
  }

  // Calls visit(y), in ascending order, for the rows of this plane (of `rows` rows) in bands that `other`
  // does not share. Costs one bit per band, or one pointer per band if neither plane was recently made from
  // the other.
  // REQUIRES: one was made from the other by copying and writing.
  template <typename Visitor>
  void ForEachUnsharedRow(const Plane& other, int rows, Visitor visit) const {
    ForEachUnsharedBand(other, [&](std::size_t band) {
      const int end = std::min(rows, static_cast<int>((band + 1) << shift_));
      for (int y = static_cast<int>(band << shift_); y < end; ++y) {
        visit(y);
      }
    });
  }

  // Returns the bytes held. A band used several times is counted once.
  std::size_t memory_bytes() const { return BytesBeyond({}); }

  // Returns the bytes held by this and not by `other`.
  // REQUIRES: `other` has the same size or is empty.
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

  // A band can be cloned in 0.1 to 0.2 microseconds, because each of a few scattered edits on a large map
  // clones one. Larger bands make searches faster, since the next row is more often in the same band. On
  // planes that barely fit into the CPU cache, cloning waits for memory and band size matters less to
  // searches, so bands are smaller. Bands of one row made searches no slower than bands of two.
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

  // Calls visit(band), in ascending order, for the bands that `other` does not share.
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
  // Band table of the version, and the version, which keeps the bands alive.
  T* const* starts_ = nullptr;
  Version version_;
};

// Writer for one plane; clones each band before its first write. While it lives the plane must not be copied,
// but may be destroyed. Costs nothing until the first write. Not thread-safe.
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

  // Sets value `index` of row y. Clones nothing if the value is unchanged.
  void Set(int y, std::size_t index, T value) {
    if (plane_.row(y)[index] != value) {
      row(y)[index] = value;
    }
  }

  // Ends the writes so far, so that the plane may be copied. Copies share them; further writes clone again.
  void Release() {
    if (open_ != nullptr) {
      open_->family.Close(*open_, std::move(stock_));
      open_ = nullptr;
    }
  }

 private:
  // Not inlined, so that row() stays short enough to be inlined into loops.
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
  // Version being written; null before the first write.
  typename Plane<T>::Version open_;
  // Free bands to clone into.
  BandFreeList<T> stock_;
};

}  // namespace waystar::core
