// Free list of the bands of a plane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace waystar::core {

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

}  // namespace waystar::core
