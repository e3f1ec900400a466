// Whether the neighbours of a cell are connected without it.
#pragma once

#include <array>

#include "server/core/components/component_block.h"
#include "server/core/grid/bit_row.h"

namespace waystar::core {

// The cells of the row above that are neighbours of one of `row`, and those of the row below. Cells beyond
// the ends of a word are none.
inline Word NeighboursAbove(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return row | row >> reach.left | row << reach.right;
}
inline Word NeighboursBelow(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return row | row >> reach.right | row << reach.left;
}

// Whether the set neighbours of cell x of the middle row are connected by way of the eight cells around it,
// and there are any: then to set or clear it parts and joins none of the others. Simple points: Rosenfeld,
// "Connectivity in Digital Pictures" (1970).
bool IsSimple(const std::array<Word, 3>& rows, int x, Adjacency adjacency);

// The same by way of these rows, but for the cell itself. If not, they may be connected further off.
inline constexpr int kRowsNearby = 3;
bool AreNeighboursConnected(const std::array<Word, 2 * kRowsNearby + 1>& rows, int x, Adjacency adjacency);

}  // namespace waystar::core
