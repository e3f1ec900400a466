// Set of nodes with fast membership tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/core/graph/map/node_pages.h"

namespace waystar::core {

// Sorted list of nodes, plus one bit per possible node.
class NodeSet {
 public:
  // Nodes have numbers below `limit`.
  explicit NodeSet(std::size_t limit) : bits_((limit + 63) / 64) {}

  // Replaces the nodes; `nodes` may contain duplicates and be in any order.
  void Assign(std::vector<NodeNumber> nodes) {
    for (const NodeNumber node : nodes_) {
      bits_[node / 64] = 0;
    }
    nodes_ = std::move(nodes);
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    for (const NodeNumber node : nodes_) {
      bits_[node / 64] |= std::uint64_t{1} << (node % 64);
    }
  }

  const std::vector<NodeNumber>& nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }

  bool Contains(NodeNumber node) const { return (bits_[node / 64] >> (node % 64) & 1) != 0; }
  // Returns the index in nodes(). Costs O(log size).
  // REQUIRES: Contains(node).
  std::size_t IndexOf(NodeNumber node) const {
    return static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
  }

 private:
  std::vector<NodeNumber> nodes_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace waystar::core
