// Writes arcs into the pages of a graph.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/node_pages.h"
#include "server/core/graph/owner.h"
#include "server/core/graph/waypoint_graph.h"

namespace waystar::core {

// The arc from one node to another as it is to be.
struct ArcChange {
  NodeNumber from = 0;
  // Its `to` says where to, whether it is there or not.
  Arc arc;
  TagSet tags = 0;
  bool is_there = true;

  // By where from, then where to.
  friend bool operator<(const ArcChange& a, const ArcChange& b) {
    return a.from != b.from ? a.from < b.from : a.arc.to < b.arc.to;
  }
};

// Thread safety: one thread at a time.
class ArcWriter {
 public:
  // REQUIRES: `owner` is nobody else's.
  ArcWriter(WaypointGraph& graph, Owner owner) : graph_(graph), owner_(owner) {}

  // Makes all changes, of which the last counts where two are of one arc. Costs in proportion to the pages
  // they fall into, and to all pages of the graph if the arc that costs the least per distance goes. Also
  // brings up to date what depends on the places of nodes that have moved, if each of their arcs is among the
  // changes, be it as it was. Returns those that made a difference, in order.
  std::vector<ArcChange> Write(std::vector<ArcChange> changes);

 private:
  // The changes of one page; leaves those in `changed` that made a difference.
  void WritePage(std::size_t page, absl::Span<const ArcChange> changes, std::vector<ArcChange>& changed);
  // A change of the arcs that lead to a node.
  struct SourceChange {
    NodeNumber to = 0;
    NodeNumber from = 0;
    bool is_there = true;
  };
  void WriteSources(std::size_t page, absl::Span<const SourceChange> changes);
  void UpdateReach(NodeNumber node);
  double LeastRatioOf(std::size_t page) const;

  WaypointGraph& graph_;
  const Owner owner_;
  std::vector<SourceChange> sources_;
};

}  // namespace waystar::core
