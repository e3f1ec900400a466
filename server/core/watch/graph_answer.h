// Answer to a subscribed path query on a waypoint graph, and the test whether a change invalidates it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/query.h"
#include "server/core/watch/graph_detour.h"
#include "server/core/watch/kept_answer.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A change of a graph, prepared for comparison with many answers.
class GraphChange {
 public:
  // Both arguments must outlive this. `graph` is the graph after the change.
  GraphChange(const MapChanges& changes, const WaypointGraph& graph);

  bool is_everything() const { return is_everything_; }
  const GraphPlaces& places() const { return places_; }
  const WaypointGraph& graph() const { return graph_; }

  // Returns true if a path between two nodes with a cost below `limit` may pass through opened places. Never
  // false if one does.
  bool MayOpenCheaper(const WorldPoint& from, const WorldPoint& to, double limit) const;

 private:
  const bool is_everything_;
  const GraphPlaces& places_;
  const WaypointGraph& graph_;
  const GraphGround ground_;
  std::vector<GraphDetour> detours_;
};

// An answer holds while its path is passable at the same cost, over the same nodes at the same positions, and
// no path is cheaper; an equally cheap alternative does not end it. A straight line without nodes holds while
// it is clear. If no path exists, or the path does not reach the goal, any change may end the answer.
//
// Thread safety: immutable.
class GraphAnswer final : public KeptAnswer {
 public:
  // Region in which changes may end an answer. Empty if any change may end it.
  struct Reach {
    // Bounds of the path, including end positions that are not nodes.
    Box around;
    // End nodes of the path, and the upper limit for the cost of a cheaper path between them; at most 0 if
    // cheaper paths do not matter.
    WorldPoint from;
    WorldPoint to;
    double limit = 0.0;
  };

  // `result` is the answer to `query` on `graph`; its path is copied. `has_overlay` says that `graph` is the
  // map's graph under an overlay; any change may then end the answer.
  GraphAnswer(const WaypointGraph& graph, const GraphQuery& query,
              const absl::StatusOr<GraphPathResult>& result, bool has_overlay = false);

  const Reach& reach() const { return reach_; }

  // Returns true if the answer may no longer hold after a change. Never false if it does not hold. The cost
  // grows with the parts of the path near the change.
  bool MayEndBy(const GraphChange& change) const;
  // As MayEndBy, but ignores cheaper paths and changes of everything.
  bool MayEndNear(const GraphChange& change) const;
  bool MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const override;

  // Returns true if `result`, the answer to the same query on `graph`, shows that this answer does not hold
  // there.
  bool IsOutdatedBy(const WaypointGraph& graph, const absl::StatusOr<GraphPathResult>& result) const;

 private:
  // Dependencies of the answer.
  enum class Kind : std::uint8_t { kNodes, kLine, kUncertain };

  // Consecutive nodes of the path, the unit in which changes of nodes and arcs are checked.
  struct Run {
    // Indexes of the first and the last node. The last is also the first of the next run.
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    Box around;
    Cost cost = 0;
    // Hash of the ids and positions, since a node number may be reused for another node.
    std::uint64_t hash = 0;
  };

  // The node that stands in for a start or goal given as a position, and its distance.
  struct Seat {
    WorldPoint position;
    NodeNumber node = 0;
    double distance = 0.0;
  };

  void TakeNodes(const WaypointGraph& graph);
  Box AroundSeat(const std::optional<Seat>& seat) const;
  static std::optional<Seat> SeatOf(const WaypointGraph& graph, const GraphPlace& place, NodeNumber node);

  // Returns the cost of a run, or nullopt if its nodes have changed or it is not passable.
  std::optional<Cost> Price(const WaypointGraph& graph, const Run& run) const;
  static std::uint64_t HashOf(const WaypointGraph& graph, const std::vector<NodeNumber>& nodes,
                              const Run& run);
  bool Holds(const WaypointGraph& graph, const Run& run) const { return Price(graph, run) == run.cost; }
  bool CanStillBeWalked(const WaypointGraph& graph) const;
  bool HasOtherSeat(const GraphChange& change, const std::optional<Seat>& seat) const;
  // Returns true if the node still stands in for the position, or if the end was given as a node.
  bool StandsIn(const WaypointGraph& graph, const std::optional<Seat>& seat) const;
  // Returns true if the line of sight between start and goal has appeared or disappeared.
  bool HasOtherLine(const GraphChange& change) const;
  bool SeesGoal(const WaypointGraph& graph) const;

  GraphQuery query_;
  bool has_overlay_ = false;
  Kind kind_ = Kind::kUncertain;
  // If not OK, the answer is this error and the fields below are unset.
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  Cost cost_ = 0;
  std::vector<NodeNumber> nodes_;
  std::vector<Run> runs_;
  std::optional<Seat> start_;
  std::optional<Seat> goal_;
  // Start and goal if they are positions, which need no nodes when they see each other.
  struct Line {
    WorldPoint from;
    WorldPoint to;
  };
  std::optional<Line> line_;
  Reach reach_;
};

}  // namespace waystar::core
