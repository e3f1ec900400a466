// Which cells of a grid are connected.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/types/span.h"
#include "server/core/components/component_block.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

// The connected components of a plane's set cells. A question costs a few steps for each level of a quadtree,
// whatever the cells. A repair costs a look at the cells around each that changed; then the blocks of
// kLeafSide x kLeafSide cells whose components are others, or whose sides show others, and what lies above
// them up to the first block whose border looks as before: it never goes through the whole map.
//
// Merging the borders of four quadrants: Samet, "Connected Component Labeling Using Quadtrees" (1981).
// Stopping where a summary stays the same: Eppstein, Galil, Italiano and Nissenzweig, "Sparsification - A
// Technique for Speeding up Dynamic Graph Algorithms" (1997).
//
// Thread safety: immutable, so any number of threads may read it. Copies and what is repaired from it share
// its blocks. It keeps the plane it is of, and no other.
class Components {
 public:
  Components(BitPlane cells, Adjacency adjacency);
  // The components of `cells`, given those before and every change that led from one to the other. Naming
  // cells that did not change does no harm. REQUIRES: the plane is as large as the one before.
  Components(const Components& before, BitPlane cells, absl::Span<const WordChange> changes);

  // False if either cell is not set or off the plane.
  bool AreConnected(Cell a, Cell b) const {
    const ComponentId id = Find(a);
    return id.block != nullptr && id == Find(b);
  }

  // What connected cells have in common and others have not, for comparing while this lives. The null block
  // if the cell is not set or off the plane.
  ComponentId Find(Cell cell) const;

  const BitPlane& cells() const { return cells_; }
  Adjacency adjacency() const { return adjacency_; }

  // Where walks over the blocks begin: the block whose first cell is (0, 0), or null if no cell is set.
  const ComponentBlock* root() const { return root_.get(); }
  int root_level() const { return root_level_; }

  // Held by this besides the plane, which is its owner's as well; shared parts included.
  std::size_t memory_bytes() const;
  // Of those bytes, the ones that `other`, if it is not null, does not hold. Costs in proportion to the
  // blocks that differ. REQUIRES: the other is of a plane of the same size.
  std::size_t BytesBeyond(const Components* other) const;

 private:
  BitPlane cells_;
  Adjacency adjacency_;
  int root_level_;
  std::shared_ptr<const ComponentBlock> root_;
};

}  // namespace waystar::core
