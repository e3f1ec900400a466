// Eight cells of a row, a byte each, as one word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "server/core/grid/bit_row.h"

namespace waystar::core {

inline constexpr int kEight = 8;

// Returns a word of eight equal bytes.
constexpr std::uint64_t EightTimes(std::uint8_t byte) { return byte * std::uint64_t{0x0101010101010101}; }

// Returns eight bytes, the first lowest. Compilers make one load of it.
inline std::uint64_t LoadEight(const std::uint8_t* cells) {
  const auto byte = [&](unsigned i) { return std::uint64_t{cells[i]} << 8 * i; };
  return byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7);
}

// As EightCells, for an end of the row.
ABSL_ATTRIBUTE_NOINLINE inline std::uint64_t EightCellsAtEnd(const std::uint8_t* row, int width, int x) {
  std::uint8_t cells[kEight] = {};
  for (int i = std::max(0, -x); i < std::min(kEight, width - x); ++i) {
    cells[i] = row[x + i];
  }
  return LoadEight(cells);
}

// Returns the bytes of cells x, ..., x + 7 of a row, the first lowest, and 0 for those off the row.
inline std::uint64_t EightCells(const std::uint8_t* row, int width, int x) {
  return 0 <= x && x + kEight <= width ? LoadEight(row + x) : EightCellsAtEnd(row, width, x);
}

// Returns the highest bits of eight bytes, the first lowest.
constexpr Word HighBits(std::uint64_t eight) {
  return ((eight >> 7 & EightTimes(1)) * std::uint64_t{0x0102040810204080}) >> 56;
}

// Returns word `index` of a row of bits, laid out as bit_row.h says: bits_of(eight) are those of eight cells.
// The bits of cells off the row are what it returns for 0.
template <typename BitsOf>
Word WordOfCells(const std::uint8_t* row, int width, std::size_t index, BitsOf bits_of) {
  Word word = 0;
  for (int i = 0; i < kWordBits; i += kEight) {
    word |= bits_of(EightCells(row, width, static_cast<int>(index) * kWordBits - 1 + i)) << i;
  }
  return word;
}

}  // namespace waystar::core
