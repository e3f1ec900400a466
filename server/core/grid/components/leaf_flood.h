// Finds the largest component of a leaf, 64 cells at a time.
#pragma once

#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/leaf_rows.h"

namespace waystar::core {

// Returns all cells of the component that has more than half of the cells on the border and is therefore the
// main component. May return none although there is one: it starts only from the middle of the leaf and gives
// up on mazes.
LeafRows FloodMostOfLeaf(const LeafRows& rows, Adjacency adjacency);

}  // namespace waystar::core
