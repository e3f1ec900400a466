// Connected components of a grid's cells, kept under changes.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/components/component_block.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

// The connected components of a plane's set cells. A lookup costs a few steps for each level of a quadtree,
// whatever the cells. A repair looks at the cells around each change, then at the blocks of kLeafSide x
// kLeafSide cells whose components or sides changed, and at what lies above them up to the first block whose
// border is as before: it never goes through the whole map.
//
// Merging the borders of four quadrants: Samet, "Connected Component Labeling Using Quadtrees" (1981).
// Stopping where a summary stays the same: Eppstein, Galil, Italiano and Nissenzweig, "Sparsification - A
// Technique for Speeding up Dynamic Graph Algorithms" (1997).
//
// Thread safety: immutable, so any number of threads may read it. Copies and what is repaired from it share
// its blocks. It holds its own plane, and no other.
class Components {
 public:
  // Once `stop` fails it ends early: the components must not be used then.
  Components(BitPlane cells, Adjacency adjacency, const StopCheck* stop = nullptr);
  // Repairs the components of another plane into those of `cells`, given every word that changed between
  // them. Naming words that did not change does no harm. REQUIRES: both planes have the same size.
  Components(const Components& before, BitPlane cells, absl::Span<const WordChange> changes);

  // Returns false if either cell is clear or off the plane.
  bool AreConnected(Cell a, Cell b) const {
    const ComponentId id = Find(a);
    return id.block != nullptr && id == Find(b);
  }

  // Returns the identity of a cell's component, which is valid for comparison while this object lives. Its
  // block is null if the cell is clear or off the plane.
  ComponentId Find(Cell cell) const;

  const BitPlane& cells() const { return cells_; }
  Adjacency adjacency() const { return adjacency_; }

  // Returns the block whose first cell is (0, 0), the root of the tree, or null if no cell is set.
  const ComponentBlock* root() const { return root_.get(); }
  int root_level() const { return root_level_; }

  // Returns the bytes held besides the plane, shared parts included. The plane is counted by its owner.
  std::size_t memory_bytes() const;
  // Returns those of the bytes that `other`, if it is not null, does not hold. The cost is proportional to
  // the blocks that differ. REQUIRES: `other` is of a plane of the same size.
  std::size_t BytesBeyond(const Components* other) const;

 private:
  BitPlane cells_;
  Adjacency adjacency_;
  int root_level_;
  std::shared_ptr<const ComponentBlock> root_;
};

}  // namespace waystar::core
