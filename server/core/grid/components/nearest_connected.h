// Search for the reachable cells nearest to an unreachable goal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/components.h"
#include "server/geometry/cell.h"

namespace waystar::core {

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
