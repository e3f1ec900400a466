// The nodes that a traced search on a waypoint graph came to.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/node_recorder.h"
#include "server/service/convert/write_route.h"

namespace waystar::rpc {

// What events tell of nodes, copied so that their graph need not be held while they are sent.
class TracedNodes {
 public:
  TracedNodes() = default;
  TracedNodes(const core::WaypointGraph& graph, absl::Span<const core::NodeEvent> events);

  // REQUIRES: one of the events is about the node.
  const ToldNode& Of(core::NodeNumber number) const;

 private:
  // In the order of their numbers.
  std::vector<ToldNode> nodes_;
};

}  // namespace waystar::rpc
