// Jump graph: the jump points of a map and the jumps between them, explored once for many searches; the
// minimum costs from one of its nodes to all others; and the jump points from which a cell is visible.
//
// Harabor, Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (2011). JPS+ ("Improving Jump Point
// Search", 2014) precomputes jumps for whole maps. Costs: Dijkstra, "A Note on Two Problems in Connexion with
// Graphs" (1959).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/flood.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/passages.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Part of the jump graph that is reachable from some cells, on a map of uniform cost.
//
// Not thread-safe. Reuses memory.
class JumpGraph {
 public:
  struct Edge {
    Cost cost = 0;
    NodeIndex to = kNoNode;
    // Directions in which the search must continue from there.
    DirectionSet onward = 0;
  };

  // Explores from `roots`, which get a node each. Returns kExhausted if the graph is complete, kScratchLimit
  // if it would exceed `max_nodes`, or the reason of an interruption by the budget. Costs 0.2 to 0.5
  // microseconds per node.
  // REQUIRES: the roots are walkable; map.HasUniformCost().
  SearchEnd Explore(const GridMap& map, const WalkGrid& walk, CornerRule rule, absl::Span<const Cell> roots,
                    std::size_t max_nodes, const Budget& budget);

  std::size_t node_count() const { return nodes_.size(); }
  Cell CellOf(NodeIndex node) const { return core::Unpack(nodes_[node].cell); }
  // Returns the node of a cell, or kNoNode.
  NodeIndex Find(Cell cell) const { return nodes_.Find(cell); }

  // Returns the explored directions of a node; for a root all legal ones.
  DirectionSet DirectionsOf(NodeIndex node) const { return nodes_[node].done; }
  // Returns the edges that a jump in this direction found.
  // REQUIRES: the direction was explored.
  absl::Span<const Edge> Jumps(NodeIndex node, unsigned direction) const {
    const Range& range = ranges_[node][direction];
    return {edges_.data() + range.begin, range.count};
  }

  std::size_t memory_bytes() const {
    return nodes_.memory_bytes() + ranges_.capacity() * sizeof(ranges_[0]) +
           edges_.capacity() * sizeof(Edge) + waiting_.capacity() * sizeof(NodeIndex);
  }

  // Called by jumps; see EightConnectedJumps.
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

  // Returns the node of a cell, and queues those of its directions that are not explored yet.
  NodeIndex Add(Cell cell, DirectionSet directions);

  template <typename Jumper>
  SearchEnd Follow(Jumper jumps, std::size_t max_nodes, const Budget& budget);

  // Cell outside the map, because there is no goal.
  Cell goal_{-2, -2};
  NodeTable nodes_;
  std::vector<std::array<Range, kDirectionCount>> ranges_;
  std::vector<Edge> edges_;
  // Nodes with directions to explore.
  std::vector<NodeIndex> waiting_;
};

// Single-source costs over a JumpGraph. Reuses memory. Not thread-safe.
class JumpCosts {
 public:
  static constexpr Cost kUnreached = std::numeric_limits<Cost>::max();

  // Computes the costs from `root`. Checks the budget every Budget::kPollInterval expansions, which it adds
  // to `expanded`. Returns kExhausted if all costs are known.
  // REQUIRES: no jump costs less than `min_straight`; `root` was a root of the graph.
  SearchEnd Run(const JumpGraph& graph, NodeIndex root, Cost min_straight, const Budget& budget,
                std::uint64_t& expanded);

  // Returns the cost of a cheapest path to a node, or kUnreached.
  Cost CostTo(NodeIndex node) const { return states_[node].cost; }

  std::size_t memory_bytes() const { return states_.capacity() * sizeof(State) + open_.memory_bytes(); }

 private:
  struct State {
    Cost cost = kUnreached;
    // Directions in which to continue. All paths of equal cost are known before the node is expanded.
    DirectionSet onward = 0;
  };

  std::vector<State> states_;
  BucketQueue open_;
};

// Finds the jump points from which a cell is visible, and with them the last legs of paths over jump points.
// Every path of a jump point search leads from its last jump point to the goal by a diagonal and then a
// straight run (on a 4-connected map, a horizontal and then a vertical run). This searches backwards from the
// goal, 64 cells at a time, for the jump points on such legs.
//
// Not thread-safe. Reuses memory.
class JumpSight {
 public:
  struct Leg {
    NodeIndex from = kNoNode;
    Cost cost = 0;
  };

  // Prepares for the nodes of a graph. Costs 2 bits per cell and several nanoseconds per node. The arguments
  // must outlive the calls of AddLegs.
  void Start(const GridMap& map, const WalkGrid& walk, CornerRule rule, const JumpGraph& graph);

  // Appends the legs that end at a walkable cell; a node at the cell itself has a leg of cost 0. Costs
  // several nanoseconds per row and column from which the cell is visible, and per leg. Some legs are
  // appended twice.
  void AddLegs(Cell to, std::vector<Leg>& legs);

  std::size_t memory_bytes() const {
    return (row_nodes_.capacity() + column_nodes_.capacity() + lit_.capacity()) * sizeof(Word);
  }

 private:
  // The rows of the map, or its columns treated as rows.
  struct Side {
    const BitPlane* cells;
    const Word* nodes;
    std::size_t stride;
    bool is_turned;
  };

  void AddBeforeStraight(const Side& side, Cell to, std::vector<Leg>& legs);
  // Appends the legs by a diagonal to the right or left that ends on cells first, ..., last of the row of
  // `to`, and then a straight run. Visits rows away from `to` in steps of row_step.
  void FollowDiagonals(const Side& side, Cell to, int first, int last, int row_step, bool goes_right,
                       std::vector<Leg>& legs);
  void AddLit(const Side& side, Cell to, int y, std::size_t begin, std::size_t end, std::vector<Leg>& legs);
  void AddBeforeVertical(Cell to, std::vector<Leg>& legs);

  const JumpGraph* graph_ = nullptr;
  const WalkGrid* walk_ = nullptr;
  CornerRule rule_ = CornerRule::kNoCornerCutting;
  bool is_eight_connected_ = true;
  Cost straight_ = 0;
  Cost diagonal_ = 0;
  // One bit per node, laid out as the walkable cells of the map.
  std::vector<Word> row_nodes_;
  std::vector<Word> column_nodes_;
  std::vector<Word> lit_;
};

// Working memory of fields, reused between queries: once warm, a flood allocates only its result. It holds at
// most 30 bytes for each of kMaxFieldCells cells. Trim frees it if it exceeds kKeptBytes.
//
// Not thread-safe; each worker thread has its own.
class FieldScratch {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{32} << 20;

  FieldScratch() = default;
  FieldScratch(const FieldScratch&) = delete;
  FieldScratch& operator=(const FieldScratch&) = delete;

  FloodGround& ground() { return ground_; }
  FloodGates& gates() { return gates_; }
  Flood& flood() { return flood_; }

  JumpGraph& jump_graph() { return jump_graph_; }
  JumpCosts& jump_costs() { return jump_costs_; }
  JumpSight& jump_sight() { return jump_sight_; }
  std::vector<JumpSight::Leg>& legs() { return legs_; }

  std::size_t memory_bytes() const {
    return ground_.memory_bytes() + gates_.memory_bytes() + flood_.memory_bytes() +
           jump_graph_.memory_bytes() + jump_costs_.memory_bytes() + jump_sight_.memory_bytes() +
           legs_.capacity() * sizeof(legs_[0]);
  }

  // Frees the memory if it exceeds kKeptBytes. Call it after the result is written.
  void Trim() {
    if (memory_bytes() > kKeptBytes) {
      ground_ = {};
      gates_ = {};
      flood_ = {};
      jump_graph_ = {};
      jump_costs_ = {};
      jump_sight_ = {};
      legs_ = std::vector<JumpSight::Leg>();
    }
  }

 private:
  FloodGround ground_;
  FloodGates gates_;
  Flood flood_;
  JumpGraph jump_graph_;
  JumpCosts jump_costs_;
  JumpSight jump_sight_;
  std::vector<JumpSight::Leg> legs_;
};

}  // namespace waystar::core
