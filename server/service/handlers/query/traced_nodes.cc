#include "server/service/handlers/query/traced_nodes.h"

#include <algorithm>

namespace waystar::rpc {

TracedNodes::TracedNodes(const core::WaypointGraph& graph, absl::Span<const core::NodeEvent> events) {
  std::vector<core::NodeNumber> numbers;
  numbers.reserve(events.size());
  for (const core::NodeEvent& event : events) {
    numbers.push_back(event.node);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  nodes_.reserve(numbers.size());
  for (const core::NodeNumber number : numbers) {
    nodes_.push_back({.number = number, .id = graph.IdOf(number), .position = graph.PositionOf(number)});
  }
}

const ToldNode& TracedNodes::Of(core::NodeNumber number) const {
  return *std::lower_bound(
      nodes_.begin(), nodes_.end(), number,
      [](const ToldNode& node, core::NodeNumber wanted) { return node.number < wanted; });
}

}  // namespace waystar::rpc
