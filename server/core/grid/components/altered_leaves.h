// Finds the leaves of Components that a change of cells alters.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/leaf_row_key.h"

namespace waystar::core {

// Two states of a plane, and the words that may differ between them.
struct PlaneChange {
  const BitPlane& before;
  const BitPlane& now;
  absl::Span<const WordChange> words;
};

// Returns, in ascending order, the rows that may differ in leaves that may be altered, in the tree below
// `root`, which was made from the plane before. Omits leaves that stay the same, at the cost of a few cache
// lines per cell; where single cells change, most leaves do.
std::vector<LeafRowKey> RowsOfAlteredLeaves(const ComponentBlock* root, int root_level,
                                            const PlaneChange& change, Adjacency adjacency);

}  // namespace waystar::core
