// Recorders of search events.
//
// An engine is a template over its recorder, so that a search that nobody watches pays nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"

namespace waystar::core {

// Records nothing.
struct NoRecorder {
  static constexpr void Generated(Cell /*cell*/, Cell /*parent*/, Cost /*g*/, Cost /*f*/) {}
  static constexpr void Expanded(Cell /*cell*/, Cost /*g*/, Cost /*f*/) {}
};

struct SearchEvent {
  enum class Kind : std::uint8_t {
    // The cell was put on the open list, or put there again because a cheaper way to it was found.
    kGenerated,
    // The cell was taken from the open list and expanded.
    kExpanded,
  };

  Kind kind = Kind::kGenerated;
  Cell cell;
  // With kGenerated, where the way to the cell comes from: a neighbour, or with jump points a cell from which
  // it is reached straight, diagonally, or diagonally and then straight. It is the cell itself for the start.
  Cell parent;
  // The cost of the way to the cell, and that plus the heuristic.
  Cost g = 0;
  Cost f = 0;
};

// Keeps every event in order, up to a limit.
class EventRecorder {
 public:
  explicit EventRecorder(std::size_t max_events) : max_events_(max_events) {}

  void Generated(Cell cell, Cell parent, Cost g, Cost f) {
    Add({SearchEvent::Kind::kGenerated, cell, parent, g, f});
  }
  void Expanded(Cell cell, Cost g, Cost f) { Add({SearchEvent::Kind::kExpanded, cell, cell, g, f}); }

  const std::vector<SearchEvent>& events() const { return events_; }
  // Returns whether there were more events than the limit; those are lost.
  bool is_truncated() const { return is_truncated_; }

 private:
  void Add(const SearchEvent& event) {
    if (events_.size() == max_events_) {
      is_truncated_ = true;
      return;
    }
    events_.push_back(event);
  }

  const std::size_t max_events_;
  std::vector<SearchEvent> events_;
  bool is_truncated_ = false;
};

}  // namespace waystar::core
