// Marks that a query adds to the picture of a waypoint graph.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/search/node_recorder.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/world_point.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// A point of a query: a node, or a position without one.
struct GraphMark {
  WorldPoint position;
  NodeNumber node = kNoNodeNumber;
};

struct GraphQueryMarks {
  std::optional<GraphMark> start;
  // The requested goals.
  std::vector<GraphMark> goals;
  // Points of the path; empty without a path.
  std::vector<GraphMark> way;
  // Events of the search; empty if it is not drawn. They must outlive the marks.
  absl::Span<const NodeEvent> events;
};

// A node reached by a search.
struct NodeVisit {
  NodeNumber node = 0;
  // Predecessor on the cheapest path; the node itself at the start.
  NodeNumber parent = 0;
  Cost g = 0;
  bool is_expanded = false;
};

// The nodes reached by a search, each once.
class NodeVisits {
 public:
  NodeVisits() = default;

  // Returns the error of `stop`.
  static absl::StatusOr<NodeVisits> Of(absl::Span<const NodeEvent> events, const StopCheck& stop);

  // Returns null if the search did not reach the node.
  const NodeVisit* Find(NodeNumber node) const;
  // Returns all visits, sorted by node number.
  const std::vector<NodeVisit>& all() const { return visits_; }

  // Returns the highest cost of an expanded node, at least 1.
  Cost dearest() const { return dearest_; }
  // Returns the colour of an expanded node, from yellow to red by its cost, or the colour of open nodes.
  picture::Color ColorOf(const NodeVisit& visit) const;
  // Returns '0' to '9' by the cost of an expanded node, or 'O' for an open one.
  char SymbolOf(const NodeVisit& visit) const;

 private:
  double ShareOf(const NodeVisit& visit) const {
    return static_cast<double>(visit.g) / static_cast<double>(dearest_);
  }

  std::vector<NodeVisit> visits_;
  Cost dearest_ = 1;
};

}  // namespace waystar::core
