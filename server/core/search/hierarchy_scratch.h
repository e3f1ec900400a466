// The working memory of searches over a Hierarchy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cost.h"
#include "server/core/search/bucket_queue.h"
#include "server/core/search/taut_turns.h"

namespace waystar::core {

// What a search from both ends knows of a node. Index 0 is for the search from the start, 1 from the goal.
struct HierarchyNode {
  // Cheapest cost of an upward way so far; NodeTable::kUnreached.
  std::array<Cost, 2> g;
  // The last arc of that way; HierarchyScratch::kFromEnd if it leads straight from the start or goal.
  std::array<std::uint32_t, 2> arc;
  // The search that wrote this; an older one means that neither side has reached the node.
  std::uint32_t generation = 0;
  // Whether the node waits in the side's queue.
  std::array<bool, 2> is_waiting;
  // The sector that way comes from; kSectorCount at the start and goal themselves.
  std::array<Sector, 2> from;
};

// Kept from search to search; forgets in O(1). Grows with the largest hierarchy searched. Thread safety:
// none.
struct HierarchyScratch {
  static constexpr std::uint32_t kFromEnd = 0xFFFFFFFF;

  // By node of the hierarchy; a longer vector from another hierarchy does no harm.
  std::vector<HierarchyNode> nodes;
  std::uint32_t generation = 0;
  std::array<BucketQueue, 2> open;
  // For taking the way found apart.
  std::vector<std::uint32_t> arcs;
  struct Leg {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t arc;
  };
  std::vector<Leg> legs;

  std::size_t memory_bytes() const {
    return nodes.capacity() * sizeof(nodes[0]) + open[0].memory_bytes() + open[1].memory_bytes() +
           arcs.capacity() * sizeof(arcs[0]) + legs.capacity() * sizeof(legs[0]);
  }
};

}  // namespace waystar::core
