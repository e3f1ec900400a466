// Working memory of searches on waypoint graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/graph/map/node_pages.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/open_list.h"

namespace waystar::core {

// Search state of a node.
struct ReachedNode {
  // Cost of nodes that paths may not enter; lower than any other cost.
  static constexpr Cost kBarred = -1;

  // Minimum cost from the start so far.
  Cost g = 0;
  // Search that wrote this; an older generation means that the node is not reached yet.
  std::uint32_t generation = 0;
  // Predecessor; the node itself at the start.
  NodeNumber parent = 0;
};

// Nodes, open list and path of one search, reused between searches. Allocates nothing once it has grown to
// the largest graph searched. Takes 16 bytes per node of that graph.
//
// Not thread-safe; each worker thread has its own.
class GraphScratch {
 public:
  // Nodes and open list together stay below `max_bytes`; memory left by earlier searches is freed before a
  // search is refused more.
  explicit GraphScratch(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  GraphScratch(const GraphScratch&) = delete;
  GraphScratch& operator=(const GraphScratch&) = delete;

  // Clears the scratch and prepares for a search over node numbers below `limit`. Returns false if the memory
  // limit does not allow it. Costs O(1) plus growth.
  bool Start(std::size_t limit);

  ReachedNode& At(NodeNumber node) { return nodes_[node]; }
  bool IsFresh(const ReachedNode& node) const { return node.generation != generation_; }
  void Reach(ReachedNode& node, Cost g, NodeNumber parent) const {
    node = {.g = g, .generation = generation_, .parent = parent};
  }

  OpenList& open() { return open_; }
  // Pushes an entry onto the open list. Returns false if the memory limit is reached.
  bool Push(const OpenEntry& entry) {
    if (open_.IsFull() && !GrowOpen()) {
      return false;
    }
    open_.Push(entry);
    return true;
  }

  std::vector<NodeNumber>& path() { return path_; }

  std::size_t memory_bytes() const {
    return nodes_.capacity() * sizeof(ReachedNode) + open_.memory_bytes() +
           path_.capacity() * sizeof(NodeNumber);
  }

 private:
  // Returns true if `bytes` more fit below the limit, after freeing unused memory if necessary.
  bool HasRoom(std::size_t bytes);
  bool GrowOpen();

  const std::size_t max_bytes_;
  // Number of nodes that the search uses.
  std::size_t limit_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<ReachedNode> nodes_;
  OpenList open_;
  std::vector<NodeNumber> path_;
};

}  // namespace waystar::core
