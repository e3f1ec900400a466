// Builds and rebuilds the blocks of Components.
#pragma once

#include <memory>

#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/component_leaf.h"

namespace waystar::core {

// Two states of a plane, and the words that may differ between them.
struct PlaneChange {
  const BitPlane& before;
  const BitPlane& now;
  absl::Span<const WordChange> words;
};

// Returns the block of level `root_level` that starts at (0, 0) and contains the whole plane, or null if no
// cell is set. Once `stop` fails the block is incomplete and must not be used.
std::shared_ptr<const ComponentBlock> BuildBlocks(const BitPlane& cells, Adjacency adjacency, int root_level,
                                                  const StopCheck* stop);

// Returns the root for the changed plane; `root` is that of the plane before. Returns the same object if no
// component or border changed. Cost: one check per changed word, plus the altered leaves and their ancestors.
// A block is joined from its children again only if their components, or the connections that these allow,
// changed.
std::shared_ptr<const ComponentBlock> RebuildBlocks(const std::shared_ptr<const ComponentBlock>& root,
                                                    int root_level, const PlaneChange& change,
                                                    Adjacency adjacency);

}  // namespace waystar::core
