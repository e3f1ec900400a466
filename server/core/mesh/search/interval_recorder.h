// Recorders of searches on navigation meshes.
//
// The search is a template over its recorder, so that unrecorded searches pay nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/recorder.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Records nothing.
struct NoIntervalRecorder {
  static constexpr void Begin() {}
  template <typename Make>
  static constexpr void Generated(const Make& /*make*/) {}
  static constexpr void Expanded(IntervalNumber /*interval*/) {}
};

// An interval that outlives its search, with the heights of its points.
struct TracedInterval {
  // Ends as seen from the root.
  WorldPoint left;
  WorldPoint right;
  // Last turning point of the path to the interval: the start or a vertex. May be an end of the interval.
  WorldPoint root;
  // g is the length of the path from the start to the root; f is the minimum length of a path to the goal
  // through the interval.
  double g = 0.0;
  double f = 0.0;
  // Interval through which it was seen; MeshInterval::kNoParent if seen from the start.
  IntervalNumber parent = MeshInterval::kNoParent;
  // Polygon directly behind the middle.
  PolygonNumber polygon = kNoPolygon;
};

struct IntervalEvent {
  // kGenerated: the interval was pushed onto the open list, which happens once. kExpanded: it was taken from
  // the open list and expanded.
  SearchEvent::Kind kind = SearchEvent::Kind::kGenerated;
  // Index in IntervalRecorder::intervals.
  IntervalNumber interval = 0;
};

// Stores events in order, up to a limit. Takes 8 bytes per event and 96 per interval.
class IntervalRecorder {
 public:
  explicit IntervalRecorder(std::size_t max_events) : max_events_(max_events) {}

  // Starts another search, whose intervals are numbered from 0.
  void Begin() { first_ = static_cast<IntervalNumber>(intervals_.size()); }
  // `make` returns the generated interval; its parent is a number of this search.
  template <typename Make>
  void Generated(const Make& make) {
    if (!Add(SearchEvent::Kind::kGenerated, static_cast<IntervalNumber>(intervals_.size()))) {
      return;
    }
    TracedInterval interval = make();
    if (interval.parent != MeshInterval::kNoParent) {
      interval.parent += first_;
    }
    intervals_.push_back(interval);
  }
  void Expanded(IntervalNumber interval) { Add(SearchEvent::Kind::kExpanded, first_ + interval); }

  // Replaces polygon numbers p by number(p).
  template <typename Number>
  void Renumber(const Number& number) {
    for (TracedInterval& interval : intervals_) {
      interval.polygon = number(interval.polygon);
    }
  }

  const std::vector<IntervalEvent>& events() const { return events_; }
  // Returns the intervals in the order in which they were generated; parents come first.
  const std::vector<TracedInterval>& intervals() const { return intervals_; }
  // Returns true if events beyond the limit were dropped.
  bool is_truncated() const { return is_truncated_; }

 private:
  bool Add(SearchEvent::Kind kind, IntervalNumber interval) {
    if (events_.size() == max_events_) {
      is_truncated_ = true;
      return false;
    }
    events_.push_back({kind, interval});
    return true;
  }

  const std::size_t max_events_;
  // Number of the search's first interval.
  IntervalNumber first_ = 0;
  std::vector<IntervalEvent> events_;
  std::vector<TracedInterval> intervals_;
  bool is_truncated_ = false;
};

}  // namespace waystar::core
