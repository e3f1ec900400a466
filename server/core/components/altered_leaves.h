// Finds which leaves of Components a change of cells alters.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/components/component_block.h"
#include "server/core/components/leaf_row_key.h"
#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// Two states of a plane, and the words that may differ between them.
struct PlaneChange {
  const BitPlane& before;
  const BitPlane& now;
  absl::Span<const WordChange> words;
};

// Returns, in ascending order, the rows that may differ of the leaves that may be altered, in the tree below
// `root`, which was made of the plane before. It leaves out leaves that stay as they are: most do where
// single cells change, and telling so costs a few cache lines a cell.
std::vector<LeafRowKey> RowsOfAlteredLeaves(const ComponentBlock* root, int root_level,
                                            const PlaneChange& change, Adjacency adjacency);

}  // namespace waystar::core
