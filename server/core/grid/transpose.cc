#include "server/core/grid/transpose.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace waystar::core {
namespace {

// The 64 cells of row y from cell 64 * block, the first in the lowest bit.
Word CellsOf(const Word* row, std::size_t block) {
  return row[block] >> 1 | row[block + 1] << (kWordBits - 1);
}

}  // namespace

// Only what is unlike the fill is written, so that the bands of uniform parts stay one.
BitPlane Transposed(const BitPlane& plane) {
  BitPlane turned(plane.height(), plane.width(), plane.Test({0, 0}));
  BitPlaneWriter writer(turned);
  std::array<Word, kWordBits> square;
  for (int top = 0; top < plane.height(); top += kWordBits) {
    const auto block = static_cast<std::size_t>(top / kWordBits);
    for (int left = 0; left < plane.width(); left += kWordBits) {
      for (int i = 0; i < kWordBits; ++i) {
        square[static_cast<std::size_t>(i)] =
            top + i < plane.height() ? CellsOf(plane.row(top + i), static_cast<std::size_t>(left / kWordBits))
                                     : Word{0};
      }
      Transpose(square);
      const int right = std::min(left + kWordBits, plane.width());
      for (int x = left; x < right; ++x) {
        const Word unlike = square[static_cast<std::size_t>(x - left)] ^ CellsOf(turned.row(x), block);
        if (unlike != 0) {
          Word* row = writer.row(x) + block;
          row[0] ^= unlike << 1;
          row[1] ^= unlike >> (kWordBits - 1);
        }
      }
    }
  }
  return turned;
}

}  // namespace waystar::core
