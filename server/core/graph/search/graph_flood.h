// Dijkstra's algorithm on a waypoint graph, from or to several nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/core/graph/map/box_tree.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_loop.h"
#include "server/core/graph/search/graph_scratch.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphFloodTask {
  // Seeds; duplicates are allowed. Disabled nodes and nodes outside the region are skipped.
  absl::Span<const GraphSeed> seeds;
  GraphSense sense = GraphSense::kFromSeeds;
  // An arc must carry all of these tags.
  TagSet required_tags = 0;
  // Maximum cost; nodes that cost more are not reached.
  Cost max_cost = std::numeric_limits<Cost>::max();
  // Area that paths may not leave, seen from above.
  std::optional<Box> region;
};

struct GraphFloodReport {
  // kGoalReached if the visitor ended the flood.
  SearchEnd end = SearchEnd::kExhausted;
  std::uint64_t expanded = 0;
  std::uint64_t generated = 0;
};

// Returns true if the box contains the position, seen from above.
inline bool Holds(const Box& box, const WorldPoint& position) {
  return box.x_low <= position.x && position.x <= box.x_high && box.y_low <= position.y &&
         position.y <= box.y_high;
}

// Floods over enabled nodes and open arcs. Calls visit(node, cost) once for each node before it is expanded,
// in order of cost; among open nodes of equal cost the smallest number is first. Ends when the visitor
// returns false. A node reached at equal cost from two others keeps the one expanded first as its parent;
// seeds are their own parents. The result is therefore the same on every machine.
//
// Reached nodes stay in the scratch until its next search (FindReached). After an early end, some of them may
// not have been visited, and their costs may be too high. Takes O(arcs + nodes log nodes), plus O(log arcs of
// the node) for each arc that is followed backwards.
GraphFloodReport FloodGraph(const WaypointGraph& graph, const GraphFloodTask& task, const Budget& budget,
                            GraphScratch& scratch, absl::FunctionRef<bool(NodeNumber node, Cost cost)> visit);

// Returns the state of a node, or null if the last flood did not reach it.
// REQUIRES: the node is below the number limit.
inline const ReachedNode* FindReached(GraphScratch& scratch, NodeNumber node) {
  const ReachedNode& reached = scratch.At(node);
  return scratch.IsFresh(reached) || reached.g == ReachedNode::kBarred ? nullptr : &reached;
}

// Returns the error of a flood that its budget stopped, as StatusOfEnd does; or RESOURCE_EXHAUSTED /
// REGION_TOO_LARGE if it needs more expansions or memory than allowed; the message says which.
absl::Status StatusOfFlood(SearchEnd end, std::uint64_t expanded);

// Nodes that a flood looks for: a sorted list, plus one bit per possible node.
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
