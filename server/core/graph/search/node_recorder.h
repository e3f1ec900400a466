// Recorders of searches on waypoint graphs.
//
// The search is a template over its recorder, so that unrecorded searches pay nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/graph/map/node_pages.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Records nothing.
struct NoNodeRecorder {
  static constexpr void Generated(NodeNumber /*node*/, NodeNumber /*parent*/, Cost /*g*/, Cost /*f*/) {}
  static constexpr void Expanded(NodeNumber /*node*/, Cost /*g*/, Cost /*f*/) {}
};

// As SearchEvent, for nodes.
struct NodeEvent {
  SearchEvent::Kind kind = SearchEvent::Kind::kGenerated;
  NodeNumber node = 0;
  // With kGenerated, the predecessor. The start is its own parent.
  NodeNumber parent = 0;
  Cost g = 0;
  Cost f = 0;
};

// Stores events in order, up to a limit.
class NodeRecorder {
 public:
  explicit NodeRecorder(std::size_t max_events) : max_events_(max_events) {}

  void Generated(NodeNumber node, NodeNumber parent, Cost g, Cost f) {
    Add({SearchEvent::Kind::kGenerated, node, parent, g, f});
  }
  void Expanded(NodeNumber node, Cost g, Cost f) { Add({SearchEvent::Kind::kExpanded, node, node, g, f}); }

  const std::vector<NodeEvent>& events() const { return events_; }
  // Returns true if events beyond the limit were dropped.
  bool is_truncated() const { return is_truncated_; }

 private:
  void Add(const NodeEvent& event) {
    if (events_.size() == max_events_) {
      is_truncated_ = true;
      return;
    }
    events_.push_back(event);
  }

  const std::size_t max_events_;
  std::vector<NodeEvent> events_;
  bool is_truncated_ = false;
};

}  // namespace waystar::core
