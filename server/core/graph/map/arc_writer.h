// Writer for the arcs in the pages of a waypoint graph.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/shared_pages.h"
#include "server/core/graph/map/waypoint_graph.h"

namespace waystar::core {

// New state of the arc from one node to another.
struct ArcChange {
  NodeNumber from = 0;
  // `to` is set even if the arc does not exist.
  Arc arc;
  TagSet tags = 0;
  bool is_there = true;
  // Set by ArcWriter::Write: true if the change makes a path possible or cheaper.
  bool is_better = false;

  bool IsSameArc(const ArcChange& other) const { return from == other.from && arc.to == other.arc.to; }
  friend bool operator<(const ArcChange& a, const ArcChange& b) {
    return a.from != b.from ? a.from < b.from : a.arc.to < b.arc.to;
  }
};

// Applies arc changes to a graph. Not thread-safe.
class ArcWriter {
 public:
  // REQUIRES: no other writer has `owner`.
  ArcWriter(WaypointGraph& graph, Owner owner) : graph_(graph), owner_(owner) {}

  // Applies all changes; the last one of each arc counts. Also updates data that depends on the positions of
  // moved nodes; `changes` must include each of their arcs, even if unchanged. Cost is proportional to the
  // affected pages, and to all pages of the graph if the arc of least cost per distance is removed. Returns
  // the effective changes, in order.
  std::vector<ArcChange> Write(std::vector<ArcChange> changes);

 private:
  // Applies the changes of one page, and appends the effective ones to `changed`.
  void WritePage(std::size_t page, absl::Span<const ArcChange> changes, std::vector<ArcChange>& changed);
  // Change of the arcs that lead to a node.
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
