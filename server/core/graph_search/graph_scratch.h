// The working memory of searches on waypoint graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/graph/node_pages.h"
#include "server/core/grid/cost.h"
#include "server/core/search/open_list.h"

namespace waystar::core {

// What a search knows of a node that it has reached.
struct ReachedNode {
  // The cost of nodes that no path may go through: no way to them is cheaper.
  static constexpr Cost kBarred = -1;

  // The least cost from the start known so far.
  Cost g = 0;
  // The search that wrote this; an older one means that the node is not reached yet.
  std::uint32_t generation = 0;
  // The node that the way comes from; at the start the node itself.
  NodeNumber parent = 0;
};

// One search's nodes, open list and path, reused from search to search: nothing is allocated once it has
// grown to the graphs it is used for. It takes 16 bytes a node of the largest of them.
//
// Thread safety: none. Each worker thread has its own.
class GraphScratch {
 public:
  // Nodes and open list together stay below `max_bytes`, and what earlier searches have left is freed before
  // a search is refused more.
  explicit GraphScratch(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  GraphScratch(const GraphScratch&) = delete;
  GraphScratch& operator=(const GraphScratch&) = delete;

  // Clears the last search and prepares for one over nodes of numbers below `limit`. Returns false if the
  // memory limit stands in the way. It costs O(1) besides what it grows.
  bool Start(std::size_t limit);

  ReachedNode& At(NodeNumber node) { return nodes_[node]; }
  bool IsFresh(const ReachedNode& node) const { return node.generation != generation_; }
  void Reach(ReachedNode& node, Cost g, NodeNumber parent) const {
    node = {.g = g, .generation = generation_, .parent = parent};
  }

  OpenList& open() { return open_; }
  // Puts an entry on the open list. Returns false if the memory limit stands in the way.
  bool Push(const OpenEntry& entry) {
    if (open_.IsFull() && !GrowOpen()) {
      return false;
    }
    open_.Push(entry);
    return true;
  }

  // Returns the path that is being built.
  std::vector<NodeNumber>& path() { return path_; }

  std::size_t memory_bytes() const {
    return nodes_.capacity() * sizeof(ReachedNode) + open_.memory_bytes() +
           path_.capacity() * sizeof(NodeNumber);
  }

 private:
  // Returns whether so much more stays below the limit, if need be once what is not in use is freed.
  bool HasRoom(std::size_t bytes);
  bool GrowOpen();

  const std::size_t max_bytes_;
  // How many nodes the search uses.
  std::size_t limit_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<ReachedNode> nodes_;
  OpenList open_;
  std::vector<NodeNumber> path_;
};

}  // namespace waystar::core
