// A watched answer to a path query on a waypoint graph, and the test whether a change makes it out of date.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph/world_point.h"
#include "server/core/graph_search/graph_query.h"
#include "server/core/grid/cost.h"
#include "server/core/map/map_changes.h"
#include "server/core/search/query.h"
#include "server/core/shape/box.h"
#include "server/core/watch/graph_detour.h"
#include "server/core/watch/kept_answer.h"

namespace waystar::core {

// What a change did to a graph, made ready to be held against many answers.
class GraphChange {
 public:
  // Both must outlive this. `graph` is the graph after the change.
  GraphChange(const MapChanges& changes, const WaypointGraph& graph);

  bool is_everything() const { return is_everything_; }
  const GraphPlaces& places() const { return places_; }
  const WaypointGraph& graph() const { return graph_; }

  // Returns whether a path between two nodes, of less than a cost, may pass what was opened. It is never
  // false if one does.
  bool MayOpenCheaper(const WorldPoint& from, const WorldPoint& to, double limit) const;

 private:
  const bool is_everything_;
  const GraphPlaces& places_;
  const WaypointGraph& graph_;
  const GraphGround ground_;
  std::vector<GraphDetour> detours_;
};

// An answer holds while its path can be walked at the same cost, over the same nodes at the same positions,
// and no other is cheaper; an equally cheap other path does not end it. A straight line without nodes holds
// while it is clear. Where there is no path, and where a path does not reach the goal, any change may end it.
//
// Thread safety: immutable.
class GraphAnswer final : public KeptAnswer {
 public:
  // Where an answer may end by what happens there. All is empty if any change may end it.
  struct Reach {
    // Around the path, with the places that are not nodes.
    Box around;
    // The nodes at its ends, and what a cheaper way between them costs less than; at most 0 if none counts.
    WorldPoint from;
    WorldPoint to;
    double limit = 0.0;
  };

  // `result` is the answer to `query` on `graph`. The path is copied. Any change may end the answer if
  // `has_overlay` says that the graph is the map's under an overlay.
  GraphAnswer(const WaypointGraph& graph, const GraphQuery& query,
              const absl::StatusOr<GraphPathResult>& result, bool has_overlay = false);

  const Reach& reach() const { return reach_; }

  // Returns whether the answer may not hold any more after a change; it is never false if it does not hold.
  // It costs as much as there are parts of the path near what has changed.
  bool MayEndBy(const GraphChange& change) const;
  // The same, but for a cheaper path and for changes of everything.
  bool MayEndNear(const GraphChange& change) const;
  bool MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const override;

  // Returns whether `result`, the answer to the same query on `graph`, says that this one does not hold
  // there.
  bool IsOutdatedBy(const WaypointGraph& graph, const absl::StatusOr<GraphPathResult>& result) const;

 private:
  // How long it holds.
  enum class Kind : std::uint8_t { kNodes, kLine, kUncertain };

  // Nodes of the path that follow each other, with what a change of one of them or of an arc between them
  // changes.
  struct Run {
    // The first and the last, which is also the first of the next run.
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    Box around;
    Cost cost = 0;
    // The hash of their ids and positions: the number of a node may be another's by now.
    std::uint64_t hash = 0;
  };

  // A start or goal that was given as a position: the node that stands in for it, and how far it is.
  struct Seat {
    WorldPoint position;
    NodeNumber node = 0;
    double distance = 0.0;
  };

  void TakeNodes(const WaypointGraph& graph);
  Box AroundSeat(const std::optional<Seat>& seat) const;
  static std::optional<Seat> SeatOf(const WaypointGraph& graph, const GraphPlace& place, NodeNumber node);

  // Returns the cost of a run, or nothing if it is not what it was.
  std::optional<Cost> Price(const WaypointGraph& graph, const Run& run) const;
  static std::uint64_t HashOf(const WaypointGraph& graph, const std::vector<NodeNumber>& nodes,
                              const Run& run);
  bool Holds(const WaypointGraph& graph, const Run& run) const { return Price(graph, run) == run.cost; }
  bool CanStillBeWalked(const WaypointGraph& graph) const;
  bool HasOtherSeat(const GraphChange& change, const std::optional<Seat>& seat) const;
  // Returns whether the node still stands in for the position, if there is one.
  bool StandsIn(const WaypointGraph& graph, const std::optional<Seat>& seat) const;
  // Returns whether start and goal see each other now and did not, or the other way.
  bool HasOtherLine(const GraphChange& change) const;
  bool SeesGoal(const WaypointGraph& graph) const;

  GraphQuery query_;
  bool has_overlay_ = false;
  Kind kind_ = Kind::kUncertain;
  // Set, instead of the rest, if the answer is an error.
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  Cost cost_ = 0;
  std::vector<NodeNumber> nodes_;
  std::vector<Run> runs_;
  std::optional<Seat> start_;
  std::optional<Seat> goal_;
  // Start and goal, if they need no nodes where they see each other.
  struct Line {
    WorldPoint from;
    WorldPoint to;
  };
  std::optional<Line> line_;
  Reach reach_;
};

}  // namespace waystar::core
