// Which leaves of Components a change of cells alters.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/components/component_block.h"
#include "server/core/components/leaf_row_key.h"
#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// Two states of a plane, and the words that may differ.
struct PlaneChange {
  const BitPlane& before;
  const BitPlane& now;
  absl::Span<const WordChange> words;
};

// The rows that may differ of the leaves that may be others now, of the tree below `root`, which is made of
// the plane before. Ascending. It leaves out the leaves that stay as they are: most do where single cells
// change, and to tell costs a few lines of memory a cell.
std::vector<LeafRowKey> RowsOfAlteredLeaves(const ComponentBlock* root, int root_level,
                                            const PlaneChange& change, Adjacency adjacency);

}  // namespace waystar::core
