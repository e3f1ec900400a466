// The marks that a query adds to the picture of a waypoint graph.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/graph/node_pages.h"
#include "server/core/graph/world_point.h"
#include "server/core/graph_search/node_recorder.h"
#include "server/core/grid/cost.h"
#include "server/core/render/scene.h"

namespace waystar::core {

// A point of a query: a node, or a position where there is none.
struct GraphMark {
  WorldPoint position;
  NodeNumber node = kNoNodeNumber;
};

// What a query adds to the picture.
struct GraphQueryMarks {
  std::optional<GraphMark> start;
  // The goals that were asked for.
  std::vector<GraphMark> goals;
  // The points of the path; empty without one.
  std::vector<GraphMark> way;
  // The events of the search; empty if it is not to be drawn. They must outlive the marks.
  absl::Span<const NodeEvent> events;
};

// A node that a search came to.
struct NodeVisit {
  NodeNumber node = 0;
  // The node that the cheapest way came from; at the start the node itself.
  NodeNumber parent = 0;
  Cost g = 0;
  bool is_expanded = false;
};

// The nodes that a search came to, each once.
class NodeVisits {
 public:
  NodeVisits() = default;

  // Returns the error of `stop`.
  static absl::StatusOr<NodeVisits> Of(absl::Span<const NodeEvent> events, const StopCheck& stop);

  // Returns null if the search did not come to that node.
  const NodeVisit* Find(NodeNumber node) const;
  // Returns all, in the order of their numbers.
  const std::vector<NodeVisit>& all() const { return visits_; }

  // Returns what the way to an expanded node cost at the most, and at least 1.
  Cost dearest() const { return dearest_; }
  // Returns the colour of an expanded node, from yellow to red by its cost, or that of nodes that are open.
  picture::Color ColorOf(const NodeVisit& visit) const;
  // Returns '0' to '9' by the cost of an expanded node, or 'O' for one that is open.
  char SymbolOf(const NodeVisit& visit) const;

 private:
  double ShareOf(const NodeVisit& visit) const {
    return static_cast<double>(visit.g) / static_cast<double>(dearest_);
  }

  std::vector<NodeVisit> visits_;
  Cost dearest_ = 1;
};

}  // namespace waystar::core
