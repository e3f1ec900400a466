// A two-dimensional array that its copies share until they change it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::core {

// Rows of `stride` values, kept in bands of a few rows. Copying a plane copies one pointer a band; writing to
// a copy, through a PlaneWriter, clones the bands it writes to. A plane whose rows all started alike holds
// one band.
//
// Thread safety: const methods may run beside each other, and beside a PlaneWriter of another copy.
template <typename T>
class Plane {
 public:
  Plane() = default;

  // `pattern` becomes every row. A band is about as large as said, but a row at the least.
  Plane(int rows, absl::Span<const T> pattern, std::size_t target_band_bytes = kTargetBandBytes)
      : stride_(pattern.size()), shift_(BandShift(pattern.size() * sizeof(T), rows, target_band_bytes)) {
    const std::size_t rows_per_band = std::size_t{1} << shift_;
    auto band = std::make_shared<T[]>(rows_per_band * stride_);
    for (std::size_t row = 0; row < rows_per_band; ++row) {
      std::copy(pattern.begin(), pattern.end(), band.get() + row * stride_);
    }
    bands_.assign((static_cast<std::size_t>(rows) + rows_per_band - 1) >> shift_, band);
  }

  const T* row(int y) const {
    const auto row = static_cast<std::size_t>(y);
    return bands_[row >> shift_].get() + (row & Mask()) * stride_;
  }

  // The rows next to row `from`, which lies at `pointer`, if they are in the same band, else null: quicker
  // than row().
  const T* RowAbove(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != 0 ? pointer - stride_ : nullptr;
  }
  const T* RowBelow(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != Mask() ? pointer + stride_ : nullptr;
  }

  // Bytes held, counting a band that several parts of this plane share once.
  std::size_t memory_bytes() const {
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < bands_.size(); ++i) {
      distinct += i == 0 || bands_[i] != bands_[i - 1] ? 1 : 0;
    }
    return distinct * BandBytes() + bands_.size() * sizeof(bands_[0]);
  }

 private:
  template <typename>
  friend class PlaneWriter;

  // Large enough that the pointers of the largest map are few, small enough to be cloned in microseconds.
  static constexpr std::size_t kTargetBandBytes = std::size_t{32} * 1024;

  static int BandShift(std::size_t row_bytes, int rows, std::size_t target_band_bytes) {
    const std::size_t fitting = std::max<std::size_t>(1, target_band_bytes / row_bytes);
    const std::size_t useful =
        std::min(std::bit_floor(fitting), std::bit_ceil(static_cast<std::size_t>(rows)));
    return std::countr_zero(useful);
  }

  std::size_t Mask() const { return (std::size_t{1} << shift_) - 1; }
  std::size_t BandBytes() const { return (stride_ << shift_) * sizeof(T); }

  std::size_t stride_ = 0;
  int shift_ = 0;
  std::vector<std::shared_ptr<T[]>> bands_;
};

// Writes to one plane, which it makes the sole owner of each band it touches. One thread only.
template <typename T>
class PlaneWriter {
 public:
  explicit PlaneWriter(Plane<T>& plane) : plane_(plane), owned_(plane.bands_.size(), false) {}

  T* row(int y) {
    const auto row = static_cast<std::size_t>(y);
    const std::size_t index = row >> plane_.shift_;
    if (!owned_[index]) {
      Clone(index);
    }
    return plane_.bands_[index].get() + (row & ((std::size_t{1} << plane_.shift_) - 1)) * plane_.stride_;
  }

  // Lets the plane be copied: what was written so far is shared with the copies, and cloned again by writes.
  void Release() { owned_.assign(owned_.size(), false); }

 private:
  void Clone(std::size_t index) {
    const std::size_t count = plane_.stride_ << plane_.shift_;
    std::shared_ptr<T[]> clone = std::make_shared_for_overwrite<T[]>(count);
    std::copy_n(plane_.bands_[index].get(), count, clone.get());
    plane_.bands_[index] = std::move(clone);
    owned_[index] = true;
  }

  Plane<T>& plane_;
  std::vector<bool> owned_;
};

}  // namespace waystar::core
