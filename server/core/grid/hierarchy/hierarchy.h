// Static index for shortest paths: subgoals of the grid, and a contraction hierarchy over them.
//
// Uras, Koenig, Hernandez, "Subgoal Graphs for Optimal Pathfinding in Eight-Neighbor Grids" (2013);
// Geisberger, Sanders, Schultes, Delling, "Contraction Hierarchies: Faster and Simpler Hierarchical Routing
// in Road Networks" (2008). The combination: Uras, Koenig, "Identifying Hierarchies for Fast Optimal Search"
// (2014); Harabor, Uras, Stuckey, Koenig, "Regarding Jump Point Search and Subgoal Graphs" (2019).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/static_index.h"
#include "server/core/grid/hierarchy/contraction.h"
#include "server/core/grid/hierarchy/subgoals.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/taut_turns.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Index of an 8-connected grid of uniform cost, for CornerRule::kNoCornerCutting. It is valid only for the
// cells and step costs from which it was built.
//
// Nodes are the subgoals, numbered from the least important up. Each stores its arcs to more important nodes.
//
// Thread safety: immutable.
class Hierarchy final : public StaticIndex {
 public:
  using Node = std::uint32_t;
  using ArcIndex = std::uint32_t;
  static constexpr std::uint32_t kNone = kNoMiddle;

  struct Limits {
    // Maximum bytes of the hierarchy, and of the working memory while it is built.
    std::size_t max_bytes = std::size_t{256} << 20;
    // Maximum number of build steps, about 5 to 10 ns each. If they do not suffice, as on maps full of single
    // obstacles, the most important nodes form a core that is not contracted. The result is the same on every
    // machine.
    std::uint64_t max_steps = 200'000'000;
    // Cancellation flag, or null. Only read; another thread may set it at any time.
    const std::atomic<bool>* cancelled = nullptr;
  };

  // Builds a hierarchy. Returns RESOURCE_EXHAUSTED if max_bytes does not suffice, at once if there are far
  // too many subgoals; or CANCELLED, within milliseconds.
  // REQUIRES: 0 < straight <= diagonal <= 2 * straight.
  static absl::StatusOr<std::unique_ptr<const Hierarchy>> Build(const WalkCells& walk, Cost straight,
                                                                Cost diagonal, const Limits& limits);

  static constexpr int kSideBits = 14;
  struct Arc {
    Cost cost;
    Node to : kNodeBits;
    // As in GraphArc.
    std::uint32_t leaves : kSectorBits;
    // Cell of `to`.
    std::uint32_t x : kSideBits;
    std::uint32_t y : kSideBits;
    std::uint32_t arrives : kSectorBits;

    Cell cell() const { return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)}; }
  };

  const Subgoals& subgoals() const { return subgoals_; }
  Cost straight() const { return straight_; }
  Cost diagonal() const { return diagonal_; }

  std::size_t node_count() const { return cells_.size(); }
  Node NodeOf(SubgoalId subgoal) const { return node_of_[subgoal]; }
  // Returns the first node of the core; all later nodes belong to it. Core nodes are not ordered, and each
  // stores all its arcs to other core nodes.
  Node first_of_core() const { return first_of_core_; }
  PackedCell CellOf(Node node) const { return cells_[node]; }

  // Returns the sectors in which cheapest paths continue that come to the node from that sector.
  SectorSet Onward(Node node, Sector from) const { return turns_.Onward(surroundings_[node], from); }

  ArcIndex FirstArc(Node node) const { return first_arc_[node]; }
  // Returns the arcs, sorted by their other end.
  absl::Span<const Arc> ArcsOf(Node node) const {
    return {arcs_.data() + first_arc_[node], first_arc_[node + 1] - first_arc_[node]};
  }
  const Arc& ArcAt(ArcIndex index) const { return arcs_[index]; }
  // Returns the node in the middle of a shortcut, which is less important than both ends. Returns kNone for
  // an arc that joins two subgoals directly.
  Node MiddleOf(ArcIndex index) const { return middles_[index]; }

  // Returns the node that lists an arc: the less important end, or one of the two in the core.
  Node FromOf(ArcIndex index) const;
  // Returns the arc to `to` that is listed at `from`, or vice versa.
  // REQUIRES: there is one.
  ArcIndex ArcBetween(Node from, Node to) const;

  std::size_t memory_bytes() const override;

 private:
  Hierarchy(const WalkCells& walk, Cost straight, Cost diagonal);

  // Takes over the result of the contraction; `order` holds the subgoals, least important first.
  void Number(Graph& graph, const std::vector<SubgoalId>& order);
  // Returns the number of arcs that keep working memory and result below `max_bytes`; 0 if not even the nodes
  // fit.
  std::size_t MaxArcs(std::size_t max_bytes) const;

  Subgoals subgoals_;
  Cost straight_;
  Cost diagonal_;
  TautTurns turns_;
  Node first_of_core_ = 0;
  std::vector<Node> node_of_;
  std::vector<PackedCell> cells_;
  std::vector<NeighbourBits> surroundings_;
  // Index of each node's first arc, then the number of arcs.
  std::vector<ArcIndex> first_arc_;
  std::vector<Arc> arcs_;
  std::vector<Node> middles_;
};

}  // namespace waystar::core
