// Makes the blocks of Components.
#pragma once

#include <memory>

#include "server/core/components/altered_leaves.h"
#include "server/core/components/component_block.h"
#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// The block of level `root_level` whose first cell is (0, 0), which holds all of the plane; null if no cell
// is set.
std::shared_ptr<const ComponentBlock> BuildBlocks(const BitPlane& cells, Adjacency adjacency, int root_level);

// The same from `root`, that of the plane before: the very same if no component or border changed. Costs a
// look at each word, then the leaves that are others now and what is above them; but a block is joined of its
// children again only if they show others than before, or so that others may be connected.
std::shared_ptr<const ComponentBlock> RebuildBlocks(const std::shared_ptr<const ComponentBlock>& root,
                                                    int root_level, const PlaneChange& change,
                                                    Adjacency adjacency);

}  // namespace waystar::core
