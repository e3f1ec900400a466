// Keys of the rows of the leaves of Components.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/core/grid/components/component_block.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Morton key; ascending keys walk the quadtree in order: Morton, "A Computer Oriented Geodetic Data Base"
// (1966). The six lowest bits are the row; each pair of bits above is the child at one level.
using LeafRowKey = std::uint32_t;

// Returns the key of the leaf row that contains the cell.
inline LeafRowKey LeafRowKeyOf(Cell cell) {
  auto key = static_cast<LeafRowKey>(cell.y % kLeafSide);
  for (int bit = 0; bit < kMaxBlockLevel; ++bit) {
    key |= (static_cast<LeafRowKey>(cell.x >> (kLeafShift + bit) & 1) |
            static_cast<LeafRowKey>(cell.y >> (kLeafShift + bit) & 1) << 1)
           << (kLeafShift + 2 * bit);
  }
  return key;
}

inline int RowOf(LeafRowKey key) { return static_cast<int>(key % kLeafSide); }
inline std::size_t ChildOf(LeafRowKey key, int level) { return key >> (kLeafShift + 2 * (level - 1)) & 3U; }

}  // namespace waystar::core
