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
#include "server/core/grid/band_table.h"

namespace waystar::core {

// Rows of `stride` values, kept in bands of a few rows, which are kept in pages, which are kept in books.
// Copying a plane copies a few pointers; the first write to a copy, through a PlaneWriter, copies the
// pointers to the books and makes a table of where the bands begin (BandTable), which is what reading goes
// by; and each write clones the book, the page and the band it writes to. A plane whose rows all started
// alike holds one band.
//
// Thread safety: const methods may run beside each other, and beside a PlaneWriter of another copy.
template <typename T>
class Plane {
 public:
  Plane() = default;

  // `pattern` becomes every row.
  Plane(int rows, absl::Span<const T> pattern)
      : Plane(rows, pattern, UsualBandBytes(rows, pattern.size() * sizeof(T))) {}
  // The same in bands about as large as said, but of a row at the least.
  Plane(int rows, absl::Span<const T> pattern, std::size_t target_band_bytes)
      : stride_(pattern.size()), shift_(BandShift(pattern.size() * sizeof(T), rows, target_band_bytes)) {
    const std::size_t rows_per_band = std::size_t{1} << shift_;
    auto band = std::make_shared<T[]>(rows_per_band * stride_);
    for (std::size_t row = 0; row < rows_per_band; ++row) {
      std::copy(pattern.begin(), pattern.end(), band.get() + row * stride_);
    }
    auto page = std::make_shared<Page>();
    page->bands.fill(band);
    auto book = std::make_shared<Book>();
    book->pages.fill(page);
    bands_ = (static_cast<std::size_t>(rows) + rows_per_band - 1) >> shift_;
    books_ = std::make_shared<BookPointer[]>(BookCount(), book);
    starts_ = BandTable<T>(bands_, band.get());
  }

  const T* row(int y) const {
    const auto row = static_cast<std::size_t>(y);
    return starts_[row >> shift_] + (row & Mask()) * stride_;
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
    if (books_ == other.books_) {
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
    if (books_ == other.books_) {
      return 0;
    }
    const bool is_alone = other.books_ == nullptr;
    std::size_t bytes = BookCount() * sizeof(BookPointer) + BandTable<T>::BytesFor(bands_);
    const Book* last_book = nullptr;
    const Page* last_page = nullptr;
    const T* last_band = nullptr;
    for (std::size_t i = 0; i < bands_; ++i) {
      const Book* book = BookOf(i).get();
      if (!is_alone && book == other.BookOf(i).get()) {
        i |= kBookBands - 1;
        continue;
      }
      bytes += book != last_book ? sizeof(Book) : 0;
      last_book = book;
      const Page* page = PageOf(i).get();
      if (!is_alone && page == other.PageOf(i).get()) {
        i |= kPageBands - 1;
        continue;
      }
      bytes += page != last_page ? sizeof(Page) : 0;
      last_page = page;
      const T* band = Start(i);
      const bool is_shared = !is_alone && band == other.Start(i);
      bytes += band != last_band && !is_shared ? BandBytes() : 0;
      last_band = band;
    }
    return bytes;
  }

 private:
  template <typename>
  friend class PlaneWriter;

  // Small enough to be cloned in a tenth of a microsecond or two, since a few cells here and there on a large
  // map touch a band each; but searches like to find the next row in the same band. Of planes that hardly fit
  // into a cache a clone waits for memory, and a search for more than the way to the next row.
  static constexpr std::size_t kTargetBandBytes = std::size_t{4} * 1024;
  static constexpr std::size_t kLargePlaneBytes = std::size_t{1} << 20;
  static constexpr std::size_t kTargetBandBytesOfLarge = std::size_t{2} * 1024;
  static constexpr std::size_t UsualBandBytes(int rows, std::size_t row_bytes) {
    return static_cast<std::size_t>(rows) * row_bytes > kLargePlaneBytes ? kTargetBandBytesOfLarge
                                                                         : kTargetBandBytes;
  }
  static constexpr int kPageShift = 4;
  static constexpr std::size_t kPageBands = std::size_t{1} << kPageShift;
  static constexpr int kBookShift = 4;
  static constexpr std::size_t kBookPages = std::size_t{1} << kBookShift;
  static constexpr std::size_t kBookBands = kBookPages << kPageShift;

  struct Page {
    std::array<std::shared_ptr<T[]>, kPageBands> bands;
    // Those that nobody else holds, if a PlaneWriter is at work on the page; of no meaning afterwards.
    std::bitset<kPageBands> owned;
  };
  using PagePointer = std::shared_ptr<Page>;

  struct Book {
    std::array<PagePointer, kBookPages> pages;
    // Likewise.
    std::bitset<kBookPages> owned;
  };
  using BookPointer = std::shared_ptr<Book>;

  static int BandShift(std::size_t row_bytes, int rows, std::size_t target_band_bytes) {
    const std::size_t fitting = std::max<std::size_t>(1, target_band_bytes / row_bytes);
    const std::size_t useful =
        std::min(std::bit_floor(fitting), std::bit_ceil(static_cast<std::size_t>(rows)));
    return std::countr_zero(useful);
  }

  static std::size_t PlaceInPage(std::size_t band) { return band & (kPageBands - 1); }
  static std::size_t PlaceInBook(std::size_t band) { return band >> kPageShift & (kBookPages - 1); }

  const BookPointer& BookOf(std::size_t band) const {
    return books_[static_cast<std::ptrdiff_t>(band / kBookBands)];
  }
  const PagePointer& PageOf(std::size_t band) const { return BookOf(band)->pages[PlaceInBook(band)]; }
  T* Start(std::size_t band) const { return starts_[band]; }
  std::size_t BookCount() const { return (bands_ + kBookBands - 1) / kBookBands; }
  std::size_t Mask() const { return (std::size_t{1} << shift_) - 1; }
  std::size_t BandBytes() const { return (stride_ << shift_) * sizeof(T); }

  std::size_t stride_ = 0;
  int shift_ = 0;
  std::size_t bands_ = 0;
  // Where each band begins, and who keeps it.
  BandTable<T> starts_;
  std::shared_ptr<BookPointer[]> books_;
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
    if (typename Plane<T>::Page& page = OwnPage(OwnBook(band), band);
        !page.owned[Plane<T>::PlaceInPage(band)]) {
      Clone(page, band);
    }
    return plane_.Start(band) + (row & plane_.Mask()) * plane_.stride_;
  }

  // Lets the plane be copied: what was written so far is shared with the copies, and cloned again by writes.
  void Release() { owned_books_.clear(); }

 private:
  typename Plane<T>::Book& OwnBook(std::size_t band) {
    if (owned_books_.empty()) {
      CopyPointers();
    }
    const std::size_t number = band / Plane<T>::kBookBands;
    typename Plane<T>::BookPointer& book = plane_.books_[static_cast<std::ptrdiff_t>(number)];
    if (!owned_books_[number]) {
      book = std::make_shared<typename Plane<T>::Book>(*book);
      book->owned.reset();
      owned_books_[number] = true;
    }
    return *book;
  }

  static typename Plane<T>::Page& OwnPage(typename Plane<T>::Book& book, std::size_t band) {
    const std::size_t place = Plane<T>::PlaceInBook(band);
    typename Plane<T>::PagePointer& page = book.pages[place];
    if (!book.owned[place]) {
      page = std::make_shared<typename Plane<T>::Page>(*page);
      page->owned.reset();
      book.owned[place] = true;
    }
    return *page;
  }

  void CopyPointers() {
    const std::size_t count = plane_.BookCount();
    auto books = std::make_shared<typename Plane<T>::BookPointer[]>(count);
    std::copy_n(plane_.books_.get(), count, books.get());
    plane_.books_ = std::move(books);
    plane_.starts_ = plane_.starts_.ChangedCopy();
    owned_books_.assign(count, false);
  }

  void Clone(typename Plane<T>::Page& page, std::size_t band) {
    const std::size_t count = plane_.stride_ << plane_.shift_;
    std::shared_ptr<T[]> clone = std::make_shared_for_overwrite<T[]>(count);
    std::copy_n(plane_.Start(band), count, clone.get());
    plane_.starts_.Set(band, clone.get());
    const std::size_t place = Plane<T>::PlaceInPage(band);
    page.bands[place] = std::move(clone);
    page.owned[place] = true;
  }

  Plane<T>& plane_;
  // Empty before the first write.
  std::vector<bool> owned_books_;
};

}  // namespace waystar::core
