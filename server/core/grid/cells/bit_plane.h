// Copy-on-write plane of bits, one per cell of a grid.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
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

  // Row y with the rows above (`low`) and below (`high`) it; empty rows outside the plane.
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
  // Returns the rows around y + kStep, 1 or -1, faster than RowsAround. `rows` are those around y.
  // REQUIRES: 0 <= y < height(); 0 <= y + kStep < height().
  template <int kStep>
  ThreeRows NextRows(int y, const ThreeRows& rows) const {
    if constexpr (kStep > 0) {
      const Word* high = y + 2 < height_ ? plane_.RowBelow(y + 1, rows.high) : nullptr;
      return {rows.high, rows.own, high != nullptr ? high : row(y + 2)};
    } else {
      const Word* low = plane_.RowAbove(y - 1, rows.low);
      return {rows.low, low != nullptr ? low : row(y - 2), rows.own};
    }
  }

  // Returns true if the cell is set; false outside the plane.
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
// REQUIRES: rows written to are on the plane.
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

  WordIndex place() const { return {y, index}; }
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

// Transposes a square of bits over its main diagonal: bit i of word j becomes bit j of word i. Source:
// Warren, "Hacker's Delight" (2002), 7-3.
inline void Transpose(std::array<Word, kWordBits>& square) {
  Word mask = 0x00000000FFFFFFFF;
  for (unsigned half = kWordBits / 2; half != 0; half >>= 1, mask ^= mask << half) {
    for (unsigned k = 0; k < kWordBits; k = ((k | half) + 1) & ~half) {
      const Word exchanged = ((square[k] >> half) ^ square[k | half]) & mask;
      square[k] ^= exchanged << half;
      square[k | half] ^= exchanged;
    }
  }
}

// Returns the plane whose cell (y, x) is cell (x, y) of `plane`.
BitPlane Transposed(const BitPlane& plane);

// A bit plane of walkable cells and its transpose.
//
// Thread safety: immutable.
class WalkCells {
 public:
  // REQUIRES: `columns` is the transpose of `rows`.
  WalkCells(BitPlane rows, BitPlane columns) : rows_(std::move(rows)), columns_(std::move(columns)) {}

  int width() const { return rows_.width(); }
  int height() const { return rows_.height(); }
  bool Contains(Cell cell) const {
    return static_cast<unsigned>(cell.x) < static_cast<unsigned>(width()) &&
           static_cast<unsigned>(cell.y) < static_cast<unsigned>(height());
  }

  // Returns true if the cell is on the map and walkable.
  bool IsWalkable(Cell cell) const { return rows_.Test(cell); }

  // Returns the walkable cells of row y; cell x is bit x + 1, see bit_row.h. The rows just outside the map
  // are empty.
  // REQUIRES: -1 <= y <= height().
  const Word* Row(int y) const { return rows_.row(y); }
  // Returns the walkable cells of column x; cell y is bit y + 1.
  // REQUIRES: -1 <= x <= width().
  const Word* Column(int x) const { return columns_.row(x); }

  const BitPlane& rows() const { return rows_; }
  const BitPlane& columns() const { return columns_; }

 private:
  BitPlane rows_;
  BitPlane columns_;
};

// The changed cells of a map and their eight neighbours, word by word. Data derived from a cell and its
// neighbours must be recomputed there; elsewhere only along runs that lead to these cells.
class Surroundings {
 public:
  // REQUIRES: the changes are in ascending order; a word may be there several times.
  Surroundings(absl::Span<const WordChange> changes, int width, int height);

  // Returns the cells as `flipped` bits of words in row-major order, each word once.
  absl::Span<const WordChange> words() const { return words_; }

  // Returns the bits of the changed cells and their neighbours in word `index` of row y.
  Word At(std::int32_t y, std::int32_t index) const {
    const WordIndex place = {y, index};
    const auto it = std::ranges::lower_bound(words_, place, {}, &WordChange::place);
    return it != words_.end() && it->place() == place ? it->flipped : 0;
  }

  // Call visit(cell) for the cells of a word whose neighbour on that side is not in the surroundings.
  template <typename Visitor>
  void ForEachNorthEnd(const WordChange& word, Visitor visit) const {
    ForEachCell({word.y, word.index, word.flipped & ~At(word.y - 1, word.index)}, visit);
  }
  template <typename Visitor>
  void ForEachSouthEnd(const WordChange& word, Visitor visit) const {
    ForEachCell({word.y, word.index, word.flipped & ~At(word.y + 1, word.index)}, visit);
  }

 private:
  std::vector<WordChange> words_;
};

}  // namespace waystar::core
