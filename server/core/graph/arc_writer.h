// Writes arcs into the pages of a waypoint graph.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/node_pages.h"
#include "server/core/graph/owner.h"
#include "server/core/graph/waypoint_graph.h"

namespace waystar::core {

// The new state of the arc from one node to another.
struct ArcChange {
  NodeNumber from = 0;
  // Its `to` is set even if the arc is not there.
  Arc arc;
  TagSet tags = 0;
  bool is_there = true;
  // Set in what ArcWriter returns: whether paths can use the arc that could not before, or for less.
  bool is_better = false;

  // Arcs are ordered by their source, then by their target.
  friend bool operator<(const ArcChange& a, const ArcChange& b) {
    return a.from != b.from ? a.from < b.from : a.arc.to < b.arc.to;
  }
};

// Thread safety: one thread at a time.
class ArcWriter {
 public:
  // REQUIRES: no other writer has `owner`.
  ArcWriter(WaypointGraph& graph, Owner owner) : graph_(graph), owner_(owner) {}

  // Makes all changes; where two are of one arc, the last one counts. The cost is proportional to the pages
  // they fall into, and to all pages of the graph if the arc of least cost per distance goes. It also brings
  // up to date what depends on the positions of moved nodes, provided that each of their arcs is among the
  // changes, even if unchanged. Returns the changes that made a difference, in order.
  std::vector<ArcChange> Write(std::vector<ArcChange> changes);

 private:
  // Makes the changes of one page and leaves those in `changed` that made a difference.
  void WritePage(std::size_t page, absl::Span<const ArcChange> changes, std::vector<ArcChange>& changed);
  // A change of the arcs that lead to a node.
  struct SourceChange {
    NodeNumber to = 0;
    NodeNumber from = 0;
    bool is_there = true;
  };
  void WriteSources(std::size_t page, absl::Span<const SourceChange> changes);
  void UpdateReach(NodeNumber node);
  ArcCostBound BoundOf(std::size_t page) const;

  WaypointGraph& graph_;
  const Owner owner_;
  std::vector<SourceChange> sources_;
};

}  // namespace waystar::core
