// Search for the reachable cells nearest to a goal that cannot be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/components/component_block.h"
#include "server/core/components/components.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

// The working memory of NearestConnected. It means nothing between calls; reuse saves allocations.
struct NearestConnectedBuffer {
  // A block on the open list.
  struct Block {
    // The squared distance of its cell nearest to the goal, whether set or not.
    std::int64_t squared_distance = 0;
    const ComponentBlock* block = nullptr;
    int level = 0;
    Cell corner;
    // Where the flags of its components begin in `wanted`.
    std::size_t wanted = 0;
  };

  // The open list: a heap with the block nearest to the goal on top.
  std::vector<Block> blocks;
  // For each component of each block met so far, whether it is part of the component that is searched.
  std::vector<bool> wanted;

  std::size_t memory_bytes() const { return blocks.capacity() * sizeof(blocks[0]) + wanted.capacity() / 8; }
};

// Appends all cells connected to `start` whose Euclidean distance to `goal` is least, in row-major order.
// That is the goal itself if it is connected, and nothing if `start` is clear or off the plane. REQUIRES:
// `goal` is on the plane.
//
// It takes blocks by their distance to the goal, leaving out those without a cell of the component: Hjaltason
// and Samet, "Distance Browsing in Spatial Databases" (1999).
void NearestConnected(const Components& components, Cell start, Cell goal, NearestConnectedBuffer& buffer,
                      std::vector<Cell>& nearest);

}  // namespace waystar::core
