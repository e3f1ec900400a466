// Recorders of search events.
//
// An engine is a template over its recorder, so that a search that nobody watches pays nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
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
  // Index of EventRecorder::maps: that which the cells lie on.
  std::uint16_t map = 0;
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
    Add({SearchEvent::Kind::kGenerated, map_, cell, parent, g, f});
  }
  void Expanded(Cell cell, Cost g, Cost f) { Add({SearchEvent::Kind::kExpanded, map_, cell, cell, g, f}); }

  // Says which map the events from here on lie on, by its id; it is empty for the query's own, which it is at
  // first. Of more than 65,536 maps the last are taken for one.
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
  std::vector<std::string> maps_ = {""};
  std::uint16_t map_ = 0;
  bool is_truncated_ = false;
  // The indexes of the maps, by id.
  std::map<std::string, std::uint16_t> numbers_ = {{"", 0}};
};

}  // namespace waystar::core
