// Keys for the rows of the leaves of Components.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/core/components/component_block.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

// Keys ascend in the order of a walk over the quadtree: Morton, "A Computer Oriented Geodetic Data Base"
// (1966). The six lowest bits are the row; each two bits above them are the child at a level.
using LeafRowKey = std::uint32_t;

// Returns the key of the row of a leaf that holds the cell.
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
