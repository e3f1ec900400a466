// Cells of one leaf of Components as 64 words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Bit x of row y is cell (x, y) of the leaf.
using LeafRows = std::array<Word, kLeafSide>;
inline constexpr LeafRows kEmptyLeaf = {};
inline constexpr LeafRows kFullLeaf = [] {
  LeafRows rows;
  rows.fill(~Word{0});
  return rows;
}();

// Returns 64 cells of a plane's row from cell x on.
// REQUIRES: x is a multiple of 64.
inline Word LeafRowAt(const Word* row, int x) {
  const auto index = static_cast<std::size_t>(x) / kWordBits;
  return row[index] >> 1 | row[index + 1] << (kWordBits - 1);
}

// Returns row y of the leaf that starts at `corner`. Cells outside the plane are clear.
inline Word ReadLeafRow(const BitPlane& cells, Cell corner, int y) {
  return LeafRowAt(cells.row(corner.y + y), corner.x);
}

inline LeafRows ReadLeaf(const BitPlane& cells, Cell corner) {
  LeafRows rows{};
  const int height = std::min(kLeafSide, cells.height() - corner.y);
  for (int y = 0; y < height; ++y) {
    rows[static_cast<std::size_t>(y)] = ReadLeafRow(cells, corner, y);
  }
  return rows;
}

}  // namespace waystar::core
