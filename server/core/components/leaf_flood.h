// The component that most of a leaf belongs to, found 64 cells at a time.
#pragma once

#include "server/core/components/component_block.h"
#include "server/core/components/leaf_rows.h"

namespace waystar::core {

// Returns all cells of the component that has more than half of the cells along the border, which is then the
// main component. It may return none even if there is one: it looks from the middle of the leaf only, and
// gives up on mazes.
LeafRows FloodMostOfLeaf(const LeafRows& rows, Adjacency adjacency);

}  // namespace waystar::core
