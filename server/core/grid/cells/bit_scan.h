// Scans of a row for clear bits, a word at a time.
#pragma once

#include <bit>
#include <cstddef>

#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {

// Returns the first cell at or right of x whose bit is clear.
// REQUIRES: 0 <= x <= width.
inline int FirstClear(const Word* row, int x) {
  const auto bit = static_cast<unsigned>(x + 1);
  std::size_t index = bit / kWordBits;
  Word clear = ~row[index] & ~Word{0} << (bit % kWordBits);
  while (clear == 0) {
    clear = ~row[++index];
  }
  return static_cast<int>(index) * kWordBits + std::countr_zero(clear) - 1;
}

// Returns the last cell at or left of x whose bit is clear.
// REQUIRES: -1 <= x < width.
inline int LastClear(const Word* row, int x) {
  const auto bit = static_cast<unsigned>(x + 1);
  std::size_t index = bit / kWordBits;
  Word clear = ~row[index] & ~Word{0} >> (kWordBits - 1 - bit % kWordBits);
  while (clear == 0) {
    clear = ~row[--index];
  }
  return static_cast<int>(index) * kWordBits + kWordBits - 1 - std::countl_zero(clear) - 1;
}

// Returns true if the bits of all cells with first <= x <= last are set.
// REQUIRES: 0 <= first <= last < width.
inline bool AreSet(const Word* row, int first, int last) {
  const auto low = static_cast<unsigned>(first + 1);
  const auto high = static_cast<unsigned>(last + 1);
  std::size_t index = low / kWordBits;
  const std::size_t end = high / kWordBits;
  Word wanted = ~Word{0} << (low % kWordBits);
  for (; index < end; ++index) {
    if ((~row[index] & wanted) != 0) {
      return false;
    }
    wanted = ~Word{0};
  }
  wanted &= ~Word{0} >> (kWordBits - 1 - high % kWordBits);
  return (~row[index] & wanted) == 0;
}

}  // namespace waystar::core
