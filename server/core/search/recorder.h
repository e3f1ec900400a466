// Recorders of search events.
//
// Engines are templates over their recorder, so that unrecorded searches pay nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Recorder that drops all events.
struct NoRecorder {
  static constexpr void Generated(Cell /*cell*/, Cell /*parent*/, Cost /*g*/, Cost /*f*/) {}
  static constexpr void Expanded(Cell /*cell*/, Cost /*g*/, Cost /*f*/) {}
};

// Recorded events in order, up to a limit.
template <typename Event>
class EventList {
 public:
  explicit EventList(std::size_t max_events) : max_events_(max_events) {}

  const std::vector<Event>& events() const { return events_; }
  // Returns true if events beyond the limit were dropped.
  bool is_truncated() const { return is_truncated_; }

 protected:
  // Appends an event. Returns false if it is dropped.
  bool Add(const Event& event) {
    is_truncated_ |= events_.size() == max_events_;
    if (!is_truncated_) {
      events_.push_back(event);
    }
    return !is_truncated_;
  }

 private:
  const std::size_t max_events_;
  std::vector<Event> events_;
  bool is_truncated_ = false;
};

struct SearchEvent {
  enum class Kind : std::uint8_t {
    // The cell was pushed onto the open list, possibly again after a cheaper path to it was found.
    kGenerated,
    // The cell was taken from the open list and expanded.
    kExpanded,
  };

  Kind kind = Kind::kGenerated;
  // Index in EventRecorder::maps of the cells' map.
  std::uint16_t map = 0;
  Cell cell;
  // With kGenerated: the predecessor. It is a neighbour or, with jump points, a cell from which a straight
  // run, a diagonal run, or a diagonal and then a straight run leads to the cell. The start is its own
  // parent.
  Cell parent;
  // g is the cost of the path to the cell; f is g plus the heuristic.
  Cost g = 0;
  Cost f = 0;
};

class EventRecorder : public EventList<SearchEvent> {
 public:
  using EventList::EventList;

  void Generated(Cell cell, Cell parent, Cost g, Cost f) {
    Add({SearchEvent::Kind::kGenerated, map_, cell, parent, g, f});
  }
  void Expanded(Cell cell, Cost g, Cost f) { Add({SearchEvent::Kind::kExpanded, map_, cell, cell, g, f}); }

  // Sets the map of the following events by its id; empty, the initial value, is the query's own map. All
  // maps after the first 65,535 share the index of one.
  void OnMap(absl::string_view id) {
    if (id == maps_[map_]) {
      return;
    }
    const auto next = static_cast<std::uint16_t>(std::min<std::size_t>(maps_.size(), 0xFFFF));
    const auto [known, is_new] = numbers_.try_emplace(std::string(id), next);
    if (is_new && maps_.size() <= 0xFFFF) {
      maps_.emplace_back(id);
    }
    map_ = known->second;
  }
  const std::vector<std::string>& maps() const { return maps_; }

 private:
  std::vector<std::string> maps_ = {""};
  std::uint16_t map_ = 0;
  // Index of each map, by id.
  std::map<std::string, std::uint16_t> numbers_ = {{"", 0}};
};

}  // namespace waystar::core
