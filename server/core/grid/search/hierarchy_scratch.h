// Working memory of searches over a Hierarchy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/search/bucket_queue.h"
#include "server/core/grid/search/taut_turns.h"

namespace waystar::core {

// Search state of a node. Index 0 is the search from the start, 1 the search from the goal.
struct HierarchyNode {
  // Minimum cost of an upward path so far, or NodeTable::kUnreached.
  std::array<Cost, 2> g;
  // Last arc of that path; HierarchyScratch::kFromEnd if it starts at this node.
  std::array<std::uint32_t, 2> arc;
  // Search that wrote this; an older generation means that neither side has reached the node.
  std::uint32_t generation = 0;
  // True, by side, if the node is on the open list.
  std::array<bool, 2> is_waiting;
  // Sector that the path arrives from; kSectorCount at the start and goal.
  std::array<Sector, 2> from;
};

// Reused between searches. Clearing costs O(1); memory grows with the largest hierarchy searched. Not
// thread-safe.
struct HierarchyScratch {
  static constexpr std::uint32_t kFromEnd = 0xFFFFFFFF;

  // Nodes by their number in the hierarchy; may be longer than the hierarchy.
  std::vector<HierarchyNode> nodes;
  std::uint32_t generation = 0;
  std::array<BucketQueue, 2> open;
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
