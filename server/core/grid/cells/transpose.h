// Transposition of bit matrices.
#pragma once

#include <array>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"

namespace waystar::core {

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

}  // namespace waystar::core
