// Eight cells of a row, one byte each, as one word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {

inline constexpr int kEight = 8;

// Returns a word of eight copies of `byte`.
constexpr std::uint64_t EightTimes(std::uint8_t byte) { return byte * std::uint64_t{0x0101010101010101}; }

// Returns eight bytes, the first lowest. Compilers turn it into one load.
inline std::uint64_t LoadEight(const std::uint8_t* cells) {
  const auto byte = [&](unsigned i) { return std::uint64_t{cells[i]} << 8 * i; };
  return byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7);
}

// EightCells for an end of the row.
ABSL_ATTRIBUTE_NOINLINE inline std::uint64_t EightCellsAtEnd(const std::uint8_t* row, int width, int x) {
  std::uint8_t cells[kEight] = {};
  for (int i = std::max(0, -x); i < std::min(kEight, width - x); ++i) {
    cells[i] = row[x + i];
  }
  return LoadEight(cells);
}

// Returns the bytes of cells x, ..., x + 7 of a row, the first lowest; 0 for cells outside the row.
inline std::uint64_t EightCells(const std::uint8_t* row, int width, int x) {
  return 0 <= x && x + kEight <= width ? LoadEight(row + x) : EightCellsAtEnd(row, width, x);
}

// Returns the highest bits of the eight bytes, the first byte's lowest.
constexpr Word HighBits(std::uint64_t eight) {
  return ((eight >> 7 & EightTimes(1)) * std::uint64_t{0x0102040810204080}) >> 56;
}

// Returns word `index` of a row of bits, laid out as in bit_row.h. bits_of(eight) returns the bits of eight
// cells. Cells outside the row are passed as 0.
template <typename BitsOf>
Word WordOfCells(const std::uint8_t* row, int width, std::size_t index, BitsOf bits_of) {
  Word word = 0;
  for (int i = 0; i < kWordBits; i += kEight) {
    word |= bits_of(EightCells(row, width, static_cast<int>(index) * kWordBits - 1 + i)) << i;
  }
  return word;
}

}  // namespace waystar::core
