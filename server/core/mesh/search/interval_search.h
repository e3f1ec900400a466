// Shortest paths on navigation meshes, and recorders of their searches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Records nothing. The search is a template over its recorder, so that unrecorded searches pay nothing.
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
  // g is the length of the path from the start to the root; f is a lower bound of the length of a path to the
  // goal through the interval, if the search has no tolerance.
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
class IntervalRecorder : public EventList<IntervalEvent> {
 public:
  using EventList::EventList;

  // Starts another search, whose intervals are numbered from 0.
  void Begin() { first_ = static_cast<IntervalNumber>(intervals_.size()); }
  // Records a generated interval. make() returns it; its parent is numbered within this search.
  template <typename Make>
  void Generated(const Make& make) {
    if (!Add({SearchEvent::Kind::kGenerated, static_cast<IntervalNumber>(intervals_.size())})) {
      return;
    }
    TracedInterval interval = make();
    if (interval.parent != MeshInterval::kNoParent) {
      interval.parent += first_;
    }
    intervals_.push_back(interval);
  }
  void Expanded(IntervalNumber interval) { Add({SearchEvent::Kind::kExpanded, first_ + interval}); }

  // Replaces polygon numbers p by number(p).
  template <typename Number>
  void Renumber(const Number& number) {
    for (TracedInterval& interval : intervals_) {
      interval.polygon = number(interval.polygon);
    }
  }

  // Returns the intervals in the order in which they were generated; parents come first.
  const std::vector<TracedInterval>& intervals() const { return intervals_; }

 private:
  // Number of the search's first interval.
  IntervalNumber first_ = 0;
  std::vector<TracedInterval> intervals_;
};

struct MeshSearchTask {
  MeshPlace start;
  MeshPlace goal;
  // As PathQuery::tolerance. The estimate of the way from a root to the goal is weighted. Vertices that are
  // reached on a shorter path are expanded again, so that no more than the tolerance is lost.
  double tolerance = 0.0;
};

struct MeshSearchReport {
  // kGoalReached, kExhausted (there is no path), or the reason for an early end.
  SearchEnd end = SearchEnd::kExhausted;
  // Length seen from above: the sum of the distances between consecutive corners, in this order. Unless the
  // goal was reached it is 0, and the spans below are empty.
  double length = 0.0;
  // With kCostLimit, no path is shorter.
  double least_length = 0.0;
  // With a path, none is shorter than `length` divided by this. SearchMesh with a tolerance does not set it.
  double bound = 1.0;
  // Start, vertices where the path turns, and goal. Consecutive corners differ in the plan; there is a single
  // corner if start and goal are at the same point. Stored in the scratch until its next search, like the
  // corridor.
  absl::Span<const WorldPoint> corners;
  // Polygons that the path passes, in order, each adjacent to the next along an edge. The first contains the
  // start and the last the goal. They may differ from those of the task if a start or goal on an edge belongs
  // to another polygon as well.
  absl::Span<const PolygonNumber> corridor;
  // Numbers of intervals expanded and pushed onto the open list.
  SearchStatistics statistics;
  // Maximum length of the open list.
  std::size_t open_peak = 0;
};

// Finds a shortest path by Polyanya (Cui, Harabor, Grastien, "Compromise-free Pathfinding on a Navigation
// Mesh", IJCAI 2017): an A* whose nodes are pairs of a root, the last turning point of the path, and an
// interval of an edge that is visible from it. Lengths are measured seen from above. A path passes from
// polygon to polygon through edges, not through a vertex alone, and turns only at vertices on a wall. A start
// or goal on a vertex is in all polygons with that vertex (FindPlacesAround), even if they meet only there.
//
// After some expansions, the estimate of the way to the goal is the straight line or the bound from landmarks
// (GoalBounds), whichever is longer.
//
// The search runs over the cells of the mesh (CellLayer), which are fewer, and finds the corridor by a walk
// along the path. If dents prevent the walk, it runs over polygons.
//
// Sides of lines of sight are decided in integers; lengths and the order of expansion use double precision.
// The path is therefore the same on every machine. It is shortest up to the rounding of lengths and the dents
// that NavMesh::Create allows. Ties between paths of equal length are broken deterministically.
//
// Where columns stand in rows, many paths to a vertex have equal length. Only the first that turns left there
// and the first that turns right continue. Sums over different legs round differently, so lengths count as
// equal within a relative 2^-39; each turn adds at most that to the path.
//
// A goal in another connected part than the start is recognized as unreachable without an expansion.
// Otherwise the budget is checked before each expansion. With a limit of 0, only paths within a cell and into
// the cells around the start are found.
//
// The recorder, which may be null, gets each step of the search. The expanded interval has the lowest f of
// the open list. The interval through which the path arrives is not expanded; there is none if start and goal
// are in one cell.
//
// REQUIRES: start and goal are places that NavMesh::FindNearest could return.
MeshSearchReport SearchMesh(const NavMesh& mesh, const MeshSearchTask& task, const Budget& budget,
                            MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

// The same on a divided mesh, over its polygons: a path costs its length and, for each step to a polygon, the
// prices of the owners there that are not owners of the polygon before. So it may also turn at the corners of
// areas. A start on the border of areas is in those that cost least. There is no tolerance and no recorder,
// and landmarks do not help much where prices decide.
// REQUIRES: prices are finite and not negative; each owner has one.
MeshSearchReport SearchDivided(const DividedMesh& divided, absl::Span<const double> prices,
                               const MeshSearchTask& task, const Budget& budget, MeshScratch& scratch);

// Calls visit(owner) for each owner in `to` that is not in `from`.
template <typename Visitor>
void VisitEntered(const DividedMesh::Owners& from, const DividedMesh::Owners& to, const Visitor& visit) {
  for (const std::uint32_t owner : to) {
    if (!std::ranges::binary_search(from, owner)) {
      visit(owner);
    }
  }
}

}  // namespace waystar::core
