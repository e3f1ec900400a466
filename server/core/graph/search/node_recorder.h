// Recorders of searches on waypoint graphs.
//
// The search is a template over its recorder, so that unrecorded searches pay nothing.
#pragma once

#include "server/core/graph/map/node_pages.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Recorder that drops all events.
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

class NodeRecorder : public EventList<NodeEvent> {
 public:
  using EventList::EventList;

  void Generated(NodeNumber node, NodeNumber parent, Cost g, Cost f) {
    Add({SearchEvent::Kind::kGenerated, node, parent, g, f});
  }
  void Expanded(NodeNumber node, Cost g, Cost f) { Add({SearchEvent::Kind::kExpanded, node, node, g, f}); }
};

}  // namespace waystar::core
