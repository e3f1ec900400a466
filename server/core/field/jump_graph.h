// A jump graph: the jump points of a map and the jumps between them, found once for many searches.
//
// Harabor, Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (2011). Keeping what jumps find is
// done for whole maps in advance by JPS+ ("Improving Jump Point Search", 2014).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/node_table.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// All that jump point searches from some cells can come to, on a map whose walkable cells cost the same.
//
// Thread safety: none. Memory is reused from graph to graph.
class JumpGraph {
 public:
  struct Edge {
    Cost cost = 0;
    NodeIndex to = kNoNode;
    // The directions in which the search must go on from there.
    DirectionSet onward = 0;
  };

  // Explores from `roots`, which get a node each. Returns kScratchLimit if that takes more than `max_nodes`,
  // what the budget demands, or kExhausted if the graph is whole. It costs 0.2 to 0.5 microseconds a node.
  // REQUIRES: the roots are free; map.HasUniformCost().
  SearchEnd Explore(const GridMap& map, const WalkGrid& walk, CornerRule rule, absl::Span<const Cell> roots,
                    std::size_t max_nodes, const Budget& budget);

  std::size_t node_count() const { return nodes_.size(); }
  Cell CellOf(NodeIndex node) const { return core::Unpack(nodes_[node].cell); }
  // Returns kNoNode for a cell that has none.
  NodeIndex Find(Cell cell) const { return nodes_.Find(cell); }

  // Returns the directions out of a node that were explored: for a root all that are legal.
  DirectionSet DirectionsOf(NodeIndex node) const { return nodes_[node].done; }
  // Returns what a jump finds. REQUIRES: the direction was explored.
  absl::Span<const Edge> Jumps(NodeIndex node, unsigned direction) const {
    const Range& range = ranges_[node][direction];
    return {edges_.data() + range.begin, range.count};
  }

  std::size_t memory_bytes() const {
    return nodes_.memory_bytes() + ranges_.capacity() * sizeof(ranges_[0]) +
           edges_.capacity() * sizeof(Edge) + waiting_.capacity() * sizeof(NodeIndex);
  }

  // These are called by jumps; see EightConnectedJumps.
  Cell goal() const { return goal_; }
  static void ReachGoal(Cost /*g*/) {}
  void Reach(Cell cell, Cost g, DirectionSet onward) {
    const NodeIndex node = Add(cell, onward);
    edges_.push_back({g, node, onward});
  }

 private:
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };

  // Returns the node of a cell. Those of its directions that were not explored yet wait to be.
  NodeIndex Add(Cell cell, DirectionSet directions);

  template <typename Jumper>
  SearchEnd Follow(Jumper jumps, std::size_t max_nodes, const Budget& budget);

  // A cell off the map: there is no goal.
  Cell goal_{-2, -2};
  NodeTable nodes_;
  std::vector<std::array<Range, kDirectionCount>> ranges_;
  std::vector<Edge> edges_;
  // Nodes with directions to be explored.
  std::vector<NodeIndex> waiting_;
};

}  // namespace waystar::core
