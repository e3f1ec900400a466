// Tests whether the neighbours of a cell are connected without it.
#pragma once

#include <array>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"

namespace waystar::core {

// Return the cells of the row above or below that are neighbours of a set cell of `row`. Cells beyond the
// ends of a word are not included.
inline Word NeighboursAbove(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return row | row >> reach.left | row << reach.right;
}
inline Word NeighboursBelow(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return row | row >> reach.right | row << reach.left;
}

// Returns true if cell x of the middle row has set neighbours and these are connected through the eight cells
// around it. Setting or clearing the cell then neither joins nor splits other cells. Such a cell is a simple
// point: Rosenfeld, "Connectivity in Digital Pictures" (1970).
bool IsSimple(const std::array<Word, 3>& rows, int x, Adjacency adjacency);

// Returns true if the set neighbours are connected through these rows, without the cell itself. If false,
// they may still be connected further away.
inline constexpr int kRowsNearby = 3;
bool AreNeighboursConnected(const std::array<Word, 2 * kRowsNearby + 1>& rows, int x, Adjacency adjacency);

}  // namespace waystar::core
