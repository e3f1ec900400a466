// Connected components of a grid's cells, maintained under changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/component_block.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Connected components of a plane's set cells. A lookup costs a few steps per level of a quadtree. A repair
// checks the cells around each change, then the blocks of kLeafSide x kLeafSide cells whose components or
// sides changed, then their ancestors up to the first block with an unchanged border. It never scans the
// whole map.
//
// Merging the borders of four quadrants: Samet, "Connected Component Labeling Using Quadtrees" (1981).
// Stopping where a summary stays the same: Eppstein, Galil, Italiano and Nissenzweig, "Sparsification - A
// Technique for Speeding up Dynamic Graph Algorithms" (1997).
//
// Thread safety: immutable. Copies and repaired successors share its blocks. It keeps its own plane alive,
// and no other.
class Components {
 public:
  // Returns early once `stop` fails; the components must not be used then.
  Components(BitPlane cells, Adjacency adjacency, const StopCheck* stop = nullptr);
  // Repairs `before` into the components of `cells`. `changes` must list every word that changed and may list
  // others.
  // REQUIRES: both planes have the same size.
  Components(const Components& before, BitPlane cells, absl::Span<const WordChange> changes);

  // Returns true if the cells are in one component; false if either is clear or outside the plane.
  bool AreConnected(Cell a, Cell b) const {
    const ComponentId id = Find(a);
    return id.block != nullptr && id == Find(b);
  }

  // Returns the identity of a cell's component, valid for comparison while this object lives. Its block is
  // null if the cell is clear or outside the plane.
  ComponentId Find(Cell cell) const;

  const BitPlane& cells() const { return cells_; }
  Adjacency adjacency() const { return adjacency_; }

  // Returns the root of the tree, the block that starts at (0, 0), or null if no cell is set.
  const ComponentBlock* root() const { return root_.get(); }
  int root_level() const { return root_level_; }

  // Returns the bytes held without the plane, including shared parts. The owner of the plane counts it.
  std::size_t memory_bytes() const;
  // Returns the bytes held by this and not by `other`, which may be null. Cost is proportional to the blocks
  // that differ.
  // REQUIRES: `other` is of a plane of the same size.
  std::size_t BytesBeyond(const Components* other) const;

 private:
  BitPlane cells_;
  Adjacency adjacency_;
  int root_level_;
  std::shared_ptr<const ComponentBlock> root_;
};

// Working memory of NearestConnected. Reuse saves allocations; the content is meaningless between calls.
struct NearestConnectedBuffer {
  // A block on the open list.
  struct Block {
    // Squared distance of its cell nearest to the goal, set or not.
    std::int64_t squared_distance = 0;
    const ComponentBlock* block = nullptr;
    int level = 0;
    Cell corner;
    // Index in `wanted` of the flags of its components.
    std::size_t wanted = 0;
  };

  // Open list: a heap with the block nearest to the goal on top.
  std::vector<Block> blocks;
  // For each component of each visited block, true if it is part of the searched component.
  std::vector<bool> wanted;

  std::size_t memory_bytes() const { return blocks.capacity() * sizeof(blocks[0]) + wanted.capacity() / 8; }
};

// Appends all cells connected to `start` whose Euclidean distance to `goal` is minimal, in row-major order:
// the goal itself if it is connected, and nothing if `start` is clear or outside the plane.
// REQUIRES: `goal` is on the plane.
//
// Best-first search over blocks by their distance to the goal, skipping blocks without a cell of the
// component: Hjaltason and Samet, "Distance Browsing in Spatial Databases" (1999).
void NearestConnected(const Components& components, Cell start, Cell goal, NearestConnectedBuffer& buffer,
                      std::vector<Cell>& nearest);

}  // namespace waystar::core
