// Recorder of a search on a map of any kind.
#pragma once

#include <cstddef>

#include "server/core/graph_search/node_recorder.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// One of its parts is filled, by the kind of the map; each keeps up to a limit of events.
struct SearchRecorder {
  explicit SearchRecorder(std::size_t max_events) : cells(max_events), nodes(max_events) {}

  bool is_truncated() const { return cells.is_truncated() || nodes.is_truncated(); }

  EventRecorder cells;
  NodeRecorder nodes;
};

}  // namespace waystar::core
