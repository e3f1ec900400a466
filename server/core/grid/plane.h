// A two-dimensional array that its copies share until they change it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace waystar::core {

// Rows of `stride` values, kept in bands of a few rows, which are kept in pages. Copying a plane copies two
// pointers; the first write to a copy, through a PlaneWriter, copies the pointers to the pages and a plain
// pointer a band, which is what reading goes by; and each write clones the page and the band it writes to. A
// plane whose rows all started alike holds one band.
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
    auto page = std::make_shared<Page>();
    page->bands.fill(band);
    bands_ = (static_cast<std::size_t>(rows) + rows_per_band - 1) >> shift_;
    pages_ = std::make_shared<PagePointer[]>(PageCount(), page);
    starts_ = std::make_shared<T*[]>(bands_, band.get());
  }

  const T* row(int y) const {
    const auto row = static_cast<std::size_t>(y);
    return starts_[static_cast<std::ptrdiff_t>(row >> shift_)] + (row & Mask()) * stride_;
  }

  // The rows next to row `from`, which lies at `pointer`, if they are in the same band, else null: quicker
  // than row().
  const T* RowAbove(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != 0 ? pointer - stride_ : nullptr;
  }
  const T* RowBelow(int from, const T* pointer) const {
    return (static_cast<std::size_t>(from) & Mask()) != Mask() ? pointer + stride_ : nullptr;
  }

  // Calls visit(y), in order, for the rows of this plane, which has `rows`, that lie in bands which `other`
  // does not hold. Costs a few pointers a page. REQUIRES: one was made from the other by copying and writing.
  template <typename Visitor>
  void ForEachUnsharedRow(const Plane& other, int rows, Visitor visit) const {
    if (pages_ == other.pages_) {
      return;
    }
    for (std::size_t band = 0; band < bands_; ++band) {
      if (PageOf(band) == other.PageOf(band)) {
        band |= kPageBands - 1;
        continue;
      }
      if (Start(band) == other.Start(band)) {
        continue;
      }
      const int end = std::min(rows, static_cast<int>((band + 1) << shift_));
      for (int y = static_cast<int>(band << shift_); y < end; ++y) {
        visit(y);
      }
    }
  }

  // Bytes held, counting a band that several parts of this plane share once.
  std::size_t memory_bytes() const { return BytesBeyond({}); }

  // Bytes held that `other` does not hold. REQUIRES: one was made from the other by copying and writing, or
  // `other` is empty.
  std::size_t BytesBeyond(const Plane& other) const {
    if (pages_ == other.pages_) {
      return 0;
    }
    std::size_t bytes = PageCount() * sizeof(PagePointer) + bands_ * sizeof(T*);
    const Page* last_page = nullptr;
    const T* last_band = nullptr;
    for (std::size_t i = 0; i < bands_; ++i) {
      const std::size_t number = i >> kPageShift;
      const Page* page = PageOf(i).get();
      if (other.pages_ != nullptr && page == other.PageOf(i).get()) {
        i = ((number + 1) << kPageShift) - 1;
        continue;
      }
      bytes += page != last_page ? sizeof(Page) : 0;
      last_page = page;
      const T* band = Start(i);
      const bool is_shared = other.pages_ != nullptr && band == other.Start(i);
      bytes += band != last_band && !is_shared ? BandBytes() : 0;
      last_band = band;
    }
    return bytes;
  }

 private:
  template <typename>
  friend class PlaneWriter;

  // Small enough to be cloned in a tenth of a microsecond or two, since a few cells here and there on a large
  // map touch a band each.
  static constexpr std::size_t kTargetBandBytes = std::size_t{4} * 1024;
  static constexpr int kPageShift = 5;
  static constexpr std::size_t kPageBands = std::size_t{1} << kPageShift;

  struct Page {
    std::array<std::shared_ptr<T[]>, kPageBands> bands;
    // Those that nobody else holds, if a PlaneWriter is at work on the page; of no meaning afterwards.
    std::bitset<kPageBands> owned;
  };
  using PagePointer = std::shared_ptr<Page>;

  static int BandShift(std::size_t row_bytes, int rows, std::size_t target_band_bytes) {
    const std::size_t fitting = std::max<std::size_t>(1, target_band_bytes / row_bytes);
    const std::size_t useful =
        std::min(std::bit_floor(fitting), std::bit_ceil(static_cast<std::size_t>(rows)));
    return std::countr_zero(useful);
  }

  const PagePointer& PageOf(std::size_t band) const {
    return pages_[static_cast<std::ptrdiff_t>(band >> kPageShift)];
  }
  T* Start(std::size_t band) const { return starts_[static_cast<std::ptrdiff_t>(band)]; }
  std::size_t PageCount() const { return (bands_ + kPageBands - 1) >> kPageShift; }
  std::size_t Mask() const { return (std::size_t{1} << shift_) - 1; }
  std::size_t BandBytes() const { return (stride_ << shift_) * sizeof(T); }

  std::size_t stride_ = 0;
  int shift_ = 0;
  std::size_t bands_ = 0;
  // Where each band begins, and who keeps it.
  std::shared_ptr<T*[]> starts_;
  std::shared_ptr<PagePointer[]> pages_;
};

// Writes to one plane, which it makes the sole owner of each band it touches. One thread only; the plane must
// not be copied meanwhile. Costs nothing until the first write.
template <typename T>
class PlaneWriter {
 public:
  explicit PlaneWriter(Plane<T>& plane) : plane_(plane) {}

  T* row(int y) {
    const auto row = static_cast<std::size_t>(y);
    const std::size_t band = row >> plane_.shift_;
    if (typename Plane<T>::Page& page = OwnPage(band >> Plane<T>::kPageShift); !page.owned[PlaceOf(band)]) {
      Clone(page, band);
    }
    return plane_.Start(band) + (row & plane_.Mask()) * plane_.stride_;
  }

  // Lets the plane be copied: what was written so far is shared with the copies, and cloned again by writes.
  void Release() { owned_pages_.clear(); }

 private:
  typename Plane<T>::Page& OwnPage(std::size_t number) {
    if (owned_pages_.empty()) {
      CopyPointers();
    }
    typename Plane<T>::PagePointer& page = plane_.pages_[static_cast<std::ptrdiff_t>(number)];
    if (!owned_pages_[number]) {
      page = std::make_shared<typename Plane<T>::Page>(*page);
      page->owned.reset();
      owned_pages_[number] = true;
    }
    return *page;
  }

  void CopyPointers() {
    const std::size_t count = plane_.PageCount();
    auto pages = std::make_shared<typename Plane<T>::PagePointer[]>(count);
    std::copy_n(plane_.pages_.get(), count, pages.get());
    plane_.pages_ = std::move(pages);
    auto starts = std::make_shared_for_overwrite<T*[]>(plane_.bands_);
    std::copy_n(plane_.starts_.get(), plane_.bands_, starts.get());
    plane_.starts_ = std::move(starts);
    owned_pages_.assign(count, false);
  }

  void Clone(typename Plane<T>::Page& page, std::size_t band) {
    const std::size_t count = plane_.stride_ << plane_.shift_;
    std::shared_ptr<T[]> clone = std::make_shared_for_overwrite<T[]>(count);
    std::copy_n(plane_.Start(band), count, clone.get());
    plane_.starts_[static_cast<std::ptrdiff_t>(band)] = clone.get();
    page.bands[PlaceOf(band)] = std::move(clone);
    page.owned[PlaceOf(band)] = true;
  }

  static std::size_t PlaceOf(std::size_t band) { return band & (Plane<T>::kPageBands - 1); }

  Plane<T>& plane_;
  // By page; empty before the first write.
  std::vector<bool> owned_pages_;
};

}  // namespace waystar::core
