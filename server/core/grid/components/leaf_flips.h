// States of a leaf while the changed cells are flipped one at a time.
#pragma once

#include <array>
#include <cstddef>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/leaf_rows.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Sequence of the flips between two planes in row-major order. When a cell flips, earlier cells have their
// new value and it and later cells their old one. The surroundings of a cell at that moment can therefore be
// read from the two planes.
//
// Keeps references to the planes. Thread safety: const methods may run concurrently.
class LeafFlips {
 public:
  // Makes the flips of the leaf that starts at `corner`.
  // REQUIRES: the planes have the same size and contain `corner`.
  LeafFlips(const BitPlane& before, const BitPlane& now, Cell corner)
      : before_(before), now_(now), corner_(corner) {}

  // Returns the cells of row y of the leaf that flip.
  Word At(int y) const {
    const Word* before = before_.row(corner_.y + y);
    const Word* now = now_.row(corner_.y + y);
    return before == now ? 0 : LeafRowAt(before, corner_.x) ^ LeafRowAt(now, corner_.x);
  }

  // Returns the rows of the leaf from y - kReach to y + kReach at the moment cell (x, y) flips. Rows outside
  // the leaf are empty.
  template <int kReach>
  std::array<Word, 2 * kReach + 1> RowsAround(int x, int y) const {
    std::array<Word, 2 * kReach + 1> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int row = y - kReach + static_cast<int>(i);
      if (row >= 0 && row < kLeafSide) {
        rows[i] = ReadLeafRow(row < y ? now_ : before_, corner_, row);
      }
    }
    const Word flipped = (Word{1} << x) - 1;
    Word& own = rows[kReach];
    own = (own & ~flipped) | (ReadLeafRow(now_, corner_, y) & flipped);
    return rows;
  }

  // Returns the surroundings of reach 1 on the plane, across leaves: bits 0 to 2 are cells x - 1 to x + 1,
  // all others are clear.
  std::array<Word, 3> PlaneAround(int x, int y) const {
    const Cell cell = {corner_.x + x, corner_.y + y};
    constexpr unsigned kBefore = 1;
    return {
        ThreeBits(now_.row(cell.y - 1), cell.x),
        (ThreeBits(now_.row(cell.y), cell.x) & kBefore) | (ThreeBits(before_.row(cell.y), cell.x) & ~kBefore),
        ThreeBits(before_.row(cell.y + 1), cell.x)};
  }

  Cell corner() const { return corner_; }

 private:
  const BitPlane& before_;
  const BitPlane& now_;
  const Cell corner_;
};

}  // namespace waystar::core
