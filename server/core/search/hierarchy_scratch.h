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

// What a bidirectional search knows of a node. Index 0 is the search from the start, 1 that from the goal.
struct HierarchyNode {
  // The least cost of an upward way so far, or NodeTable::kUnreached.
  std::array<Cost, 2> g;
  // The last arc of that way; HierarchyScratch::kFromEnd if it leads straight from the start or goal.
  std::array<std::uint32_t, 2> arc;
  // The search that wrote this; an older one means that neither side has reached the node.
  std::uint32_t generation = 0;
  // Entries tell whether the node is on the side's open list.
  std::array<bool, 2> is_waiting;
  // The sector that way comes from; kSectorCount at the start and goal themselves.
  std::array<Sector, 2> from;
};

// Kept from search to search. It is cleared in O(1) and grows with the largest hierarchy searched. Thread
// safety: none.
struct HierarchyScratch {
  static constexpr std::uint32_t kFromEnd = 0xFFFFFFFF;

  // The nodes by their number in the hierarchy. A vector longer than the hierarchy does no harm.
  std::vector<HierarchyNode> nodes;
  std::uint32_t generation = 0;
  std::array<BucketQueue, 2> open;
  // For unpacking the way that was found.
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
