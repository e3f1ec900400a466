// Builds and rebuilds the blocks of Components.
#pragma once

#include <memory>

#include "server/base/stop_check.h"
#include "server/core/components/altered_leaves.h"
#include "server/core/components/component_block.h"
#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// Returns the block of level `root_level` whose first cell is (0, 0) and which holds all of the plane, or
// null if no cell is set. Once `stop` fails it leaves out the rest: the block is of no use then.
std::shared_ptr<const ComponentBlock> BuildBlocks(const BitPlane& cells, Adjacency adjacency, int root_level,
                                                  const StopCheck* stop);

// Returns the root of the changed plane, given `root`, that of the plane before; it is the same object if no
// component or border changed. The cost is a look at each changed word, plus the altered leaves and the
// blocks above them; but a block is joined of its children again only if they show other components than
// before, or show them so that others may be connected.
std::shared_ptr<const ComponentBlock> RebuildBlocks(const std::shared_ptr<const ComponentBlock>& root,
                                                    int root_level, const PlaneChange& change,
                                                    Adjacency adjacency);

}  // namespace waystar::core
