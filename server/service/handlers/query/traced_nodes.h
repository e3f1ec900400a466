// Nodes visited by a traced search on a waypoint graph.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/node_recorder.h"
#include "server/service/convert/write_route.h"

namespace waystar::rpc {

// Copies of the node data of events, so that the graph need not be held while they are sent.
class TracedNodes {
 public:
  TracedNodes() = default;
  TracedNodes(const core::WaypointGraph& graph, absl::Span<const core::NodeEvent> events);

  // REQUIRES: an event refers to the node.
  const ToldNode& Of(core::NodeNumber number) const;

 private:
  // Sorted by number.
  std::vector<ToldNode> nodes_;
};

}  // namespace waystar::rpc
