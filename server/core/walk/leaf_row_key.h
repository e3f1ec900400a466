// The rows of leaves of Components in which cells changed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/walk/component_block.h"

namespace waystar::core {

// Rows of leaves in which cells changed, in the order of a walk over the quadtree: Morton, "A Computer
// Oriented Geodetic Data Base" (1966). The six lowest bits are the row, each two above them the child of a
// level.
using LeafRowKey = std::uint32_t;

inline LeafRowKey Interleaved(int x, int y) {
  LeafRowKey key = 0;
  for (int bit = 0; bit < kMaxBlockLevel; ++bit) {
    key |= static_cast<LeafRowKey>(x >> bit & 1) << (2 * bit) | static_cast<LeafRowKey>(y >> bit & 1)
                                                                    << (2 * bit + 1);
  }
  return key;
}

inline int RowOf(LeafRowKey key) { return static_cast<int>(key % kLeafSide); }
inline std::size_t ChildOf(LeafRowKey key, int level) { return key >> (kLeafShift + 2 * (level - 1)) & 3U; }

inline std::vector<LeafRowKey> ChangedRows(absl::Span<const WordChange> changes) {
  std::vector<LeafRowKey> rows;
  rows.reserve(2 * changes.size());
  for (const WordChange& change : changes) {
    if (change.flipped == 0) {
      continue;
    }
    // A word's cells lie in two leaves at most.
    const int word = change.index * kWordBits - 1;
    const int first = (word + std::countr_zero(change.flipped)) >> kLeafShift;
    const int last = (word + kWordBits - 1 - std::countl_zero(change.flipped)) >> kLeafShift;
    for (int x = first; x <= last; ++x) {
      rows.push_back(Interleaved(x, change.y >> kLeafShift) << kLeafShift |
                     static_cast<LeafRowKey>(change.y % kLeafSide));
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace waystar::core
