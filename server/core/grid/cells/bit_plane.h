// Copy-on-write plane of bits, one per cell of a grid.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/plane.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Rows of bits, laid out as in bit_row.h. Copies share a row until one of them writes to it.
//
// Thread safety: const methods may run concurrently with each other and with a BitPlaneWriter of another
// copy.
class BitPlane {
 public:
  BitPlane() = default;
  BitPlane(int width, int height, bool fill) : width_(width), height_(height) {
    std::vector<Word> pattern(static_cast<std::size_t>(WordsPerRow(width)), 0);
    if (fill) {
      ForEachWord(0, width, [&](std::size_t index, Word mask) { pattern[index] |= mask; });
    }
    plane_ = Plane<Word>(height, pattern);
  }

  int width() const { return width_; }
  int height() const { return height_; }

  // Returns row y, or an empty row if y is outside the plane.
  const Word* row(int y) const {
    return static_cast<unsigned>(y) < static_cast<unsigned>(height_) ? plane_.row(y) : kEmptyRow;
  }

  // Returns word `index` of row y.
  // REQUIRES: 0 <= y < height(); 0 <= index < WordsPerRow(width()).
  Word word(int y, std::size_t index) const { return plane_.row(y)[index]; }

  // Rows y, y - 1 and y + 1, in this order.
  // REQUIRES: 0 <= y < height().
  struct ThreeRows {
    const Word* own;
    const Word* low;
    const Word* high;
  };
  ThreeRows RowsAround(int y) const {
    const Word* own = plane_.row(y);
    const Word* low = plane_.RowAbove(y, own);
    const Word* high = y + 1 < height_ ? plane_.RowBelow(y, own) : nullptr;
    return {own, low != nullptr ? low : row(y - 1), high != nullptr ? high : row(y + 1)};
  }

  // Returns false for cells outside the plane.
  bool Test(Cell cell) const {
    return static_cast<unsigned>(cell.x) < static_cast<unsigned>(width_) &&
           static_cast<unsigned>(cell.y) < static_cast<unsigned>(height_) &&
           TestBit(plane_.row(cell.y), cell.x);
  }

  // Calls visit(y) for the rows that may differ from those of `other`; see Plane.
  template <typename Visitor>
  void ForEachUnsharedRow(const BitPlane& other, Visitor visit) const {
    plane_.ForEachUnsharedRow(other.plane_, height_, visit);
  }

  std::size_t memory_bytes() const { return plane_.memory_bytes(); }
  // As Plane::BytesBeyond.
  std::size_t BytesBeyond(const BitPlane& other) const { return plane_.BytesBeyond(other.plane_); }

 private:
  friend class BitPlaneWriter;

  int width_ = 0;
  int height_ = 0;
  Plane<Word> plane_;
};

// Writer for one plane.
// REQUIRES: 0 <= y < height.
class BitPlaneWriter : public PlaneWriter<Word> {
 public:
  explicit BitPlaneWriter(BitPlane& plane) : PlaneWriter(plane.plane_) {}
};

// Position of a word: word `index` of row y; see bit_row.h.
struct WordIndex {
  std::int32_t y = 0;
  std::int32_t index = 0;

  friend auto operator<=>(const WordIndex&, const WordIndex&) = default;
};

// Changed bits of a word: word `index` of row y, with the changed bits set in `flipped`.
struct WordChange {
  std::int32_t y = 0;
  std::int32_t index = 0;
  Word flipped = 0;
};

// Returns the words in which two planes differ, in ascending order.
// REQUIRES: one plane was made from the other by copying and writing.
inline std::vector<WordChange> DifferencesBetween(const BitPlane& before, const BitPlane& now) {
  std::vector<WordChange> changes;
  const int words = WordsPerRow(now.width());
  now.ForEachUnsharedRow(before, [&](int y) {
    const Word* old_row = before.row(y);
    const Word* row = now.row(y);
    for (int i = 0; i < words; ++i) {
      if (old_row[i] != row[i]) {
        changes.push_back({y, i, old_row[i] ^ row[i]});
      }
    }
  });
  return changes;
}

// Calls visit(cell) for each flipped cell of a change.
template <typename Visitor>
void ForEachCell(const WordChange& change, Visitor visit) {
  for (Word bits = change.flipped; bits != 0; bits &= bits - 1) {
    visit(Cell{change.index * kWordBits + std::countr_zero(bits) - 1, change.y});
  }
}

}  // namespace waystar::core
