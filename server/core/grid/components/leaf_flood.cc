#include "server/core/grid/components/leaf_flood.h"

#include <bit>
#include <cstddef>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/neighbours_connected.h"

namespace waystar::core {
namespace {

// Scattered obstacles take two or three passes. Mazes take many and are labelled faster run by run.
constexpr int kMaxPasses = 4;

// Returns the runs of `row` that contain seeds.
// REQUIRES: the seeds are set in `row`.
Word FillRuns(Word row, Word seeds) {
  // The carry propagates from the lowest seed of a run to the run's end.
  Word filled = seeds | (row & ~(row + seeds));
  Word open = row;
  for (int distance = 1; distance < kWordBits; distance *= 2) {
    filled |= open & filled >> distance;
    open &= open >> distance;
  }
  return filled;
}

// Counts a corner cell twice, once per side, as MainComponent does.
int CellsOnSides(const LeafRows& rows) {
  int cells = std::popcount(rows.front()) + std::popcount(rows.back());
  for (const Word row : rows) {
    cells += static_cast<int>((row & 1) + (row >> (kWordBits - 1)));
  }
  return cells;
}

}  // namespace

LeafRows FloodMostOfLeaf(const LeafRows& rows, Adjacency adjacency) {
  constexpr std::size_t kMiddle = kLeafSide / 2;
  LeafRows flooded = {};
  flooded[kMiddle] = FillRuns(rows[kMiddle], rows[kMiddle] & -rows[kMiddle]);
  bool grows = flooded[kMiddle] != 0;
  const auto flow = [&](std::size_t y, Word neighbours) {
    const Word seeds = neighbours & rows[y] & ~flooded[y];
    if (seeds != 0) {
      flooded[y] |= FillRuns(rows[y], seeds);
      grows = true;
    }
  };
  for (int pass = 0; grows; ++pass) {
    if (pass == kMaxPasses) {
      return kEmptyLeaf;
    }
    grows = false;
    for (std::size_t y = 1; y < kLeafSide; ++y) {
      flow(y, NeighboursBelow(flooded[y - 1], adjacency));
    }
    for (std::size_t y = kLeafSide - 1; y-- > 0;) {
      flow(y, NeighboursAbove(flooded[y + 1], adjacency));
    }
  }
  return 2 * CellsOnSides(flooded) > CellsOnSides(rows) ? flooded : kEmptyLeaf;
}

}  // namespace waystar::core
