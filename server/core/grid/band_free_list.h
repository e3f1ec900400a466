// Bands of a plane that are not in use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace waystar::core {

// A stack of bands, each from new T[], that are freed with it. To clone into a band from a stock takes less
// time than to allocate one, and the last that was put in is the likeliest to be in a cache.
//
// Thread safety: none.
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

  // A band of `values` values, whatever they are; a new one if there is none. REQUIRES: so are all here.
  T* Take(std::size_t values) {
    if (bands_.empty()) {
      return new T[values];
    }
    T* const band = bands_.back();
    bands_.pop_back();
    return band;
  }

  // Keeps the band, or frees it if there is no memory to remember it.
  void Put(T* band) noexcept {
    try {
      bands_.push_back(band);
    } catch (const std::bad_alloc&) {
      delete[] band;
    }
  }

  // Moves bands to `other`, up to as many as that then holds `limit`, and none if there is no memory for
  // that.
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
