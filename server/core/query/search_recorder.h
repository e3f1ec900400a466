// Recorder of the events of a search on a map of any kind.
#pragma once

#include <cstddef>

#include "server/core/graph/search/node_recorder.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Only the part for the map's kind is filled. Each keeps up to `max_events` events.
struct SearchRecorder {
  explicit SearchRecorder(std::size_t max_events)
      : cells(max_events), nodes(max_events), intervals(max_events) {}

  std::size_t event_count() const {
    return cells.events().size() + nodes.events().size() + intervals.events().size();
  }
  bool is_truncated() const {
    return cells.is_truncated() || nodes.is_truncated() || intervals.is_truncated();
  }

  EventRecorder cells;
  NodeRecorder nodes;
  IntervalRecorder intervals;
};

}  // namespace waystar::core
