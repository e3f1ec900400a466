// Recorders of searches on navigation meshes.
//
// The search is a template over its recorder, so that one that nobody watches pays nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/recorder.h"

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
  // The ends, as seen from the root.
  WorldPoint left;
  WorldPoint right;
  // The place where the way to the interval last turns: the start or a vertex. It may be an end.
  WorldPoint root;
  // The length of the way from the start to the root, and the least one of a path to the goal through the
  // interval.
  double g = 0.0;
  double f = 0.0;
  // The interval that it was seen through; MeshInterval::kNoParent for what is seen from the start.
  IntervalNumber parent = MeshInterval::kNoParent;
  // The polygon right behind the middle.
  PolygonNumber polygon = kNoPolygon;
};

struct IntervalEvent {
  // kGenerated: it was put on the open list, which happens once. kExpanded: it was taken from there to see
  // what can be seen through it.
  SearchEvent::Kind kind = SearchEvent::Kind::kGenerated;
  // Index of IntervalRecorder::intervals.
  IntervalNumber interval = 0;
};

// Keeps every event in order, up to a limit. It takes 8 bytes an event, and 96 an interval.
class IntervalRecorder {
 public:
  explicit IntervalRecorder(std::size_t max_events) : max_events_(max_events) {}

  // Another search begins, whose intervals are numbered from 0.
  void Begin() { first_ = static_cast<IntervalNumber>(intervals_.size()); }
  // `make` returns the interval that was generated; its parent is a number of this search.
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

  // Gives polygons the number that `number` returns for theirs.
  template <typename Number>
  void Renumber(const Number& number) {
    for (TracedInterval& interval : intervals_) {
      interval.polygon = number(interval.polygon);
    }
  }

  const std::vector<IntervalEvent>& events() const { return events_; }
  // Returns the intervals in the order in which they were generated, so that parents come first.
  const std::vector<TracedInterval>& intervals() const { return intervals_; }
  // Returns whether there were more events than the limit; those are lost.
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
  // The number of the first interval of the search.
  IntervalNumber first_ = 0;
  std::vector<IntervalEvent> events_;
  std::vector<TracedInterval> intervals_;
  bool is_truncated_ = false;
};

}  // namespace waystar::core
