// Answer to a subscribed path query on a waypoint graph, and the test whether a change invalidates it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/query.h"
#include "server/core/watch/course.h"
#include "server/core/watch/kept_answer.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A change of a graph, prepared for comparison with many answers.
class GraphChange {
 public:
  // Where a change may end an answer.
  struct Reach {
    // Bounds of the path, including end positions that are not nodes.
    Box path;
    // End nodes of the path, and the upper limit for the cost of a cheaper path between them; at most 0 if
    // cheaper paths do not matter.
    WorldPoint from;
    WorldPoint to;
    double limit = 0.0;
    // True if changes elsewhere may end the answer too.
    bool is_unlimited = false;
  };

  // Both arguments must outlive this. `graph` is the graph after the change.
  GraphChange(const MapChanges& changes, const WaypointGraph& graph);

  // Returns true if the change may end every answer.
  bool ends_all() const { return changes_.is_everything; }
  // Returns true if the change may end an answer with this reach.
  bool MayEnd(const Reach& reach) const {
    return changes_.is_everything || (reach.is_unlimited && !changes_.graph.empty()) || IsNear(reach) ||
           MayOpenCheaper(reach);
  }

 private:
  friend class GraphAnswer;

  // Bounds for paths through nodes in one opened box.
  struct Detour {
    using OfArcs = std::array<double, ArcCostBound::kMostCheap>;

    Box box;
    // For each cheap arc, the least cost from its start over the arc to the box, and from the box over the
    // arc to its end.
    OfArcs to_box{};
    OfArcs from_box{};
  };

  bool IsNear(const Reach& reach) const {
    return changes_.graph.changed.Overlaps(reach.path) || changes_.graph.sight.Overlaps(reach.path);
  }
  // Returns true if a path between the ends with a cost below the limit may pass through opened places.
  // Never false if one does.
  bool MayOpenCheaper(const Reach& reach) const;
  Detour DetourBy(const Box& box) const;

  const MapChanges& changes_;
  const WaypointGraph& graph_;
  std::vector<Detour> detours_;
};

// An answer holds while its path is passable at the same cost, over the same nodes at the same positions, and
// no path is cheaper; an equally cheap alternative does not end it. A straight line without nodes holds while
// it is clear. If no path exists, or the path does not reach the goal, any change may end the answer.
//
// Thread safety: immutable.
class GraphAnswer final : public KeptAnswer {
 public:
  using Change = GraphChange;

  // `result` is the answer to `query` on `graph`; its path is copied. `has_overlay` says that `graph` is the
  // map's graph under an overlay; any change may then end the answer.
  GraphAnswer(const WaypointGraph& graph, const GraphQuery& query,
              const absl::StatusOr<GraphPathResult>& result, bool has_overlay = false);

  const GraphChange::Reach& reach() const { return reach_; }

  // Returns true if the answer may no longer hold after a change. Never false if it does not hold. The cost
  // grows with the path if the change is near it.
  ChangeEffect EffectOf(const GraphChange& change) const;
  ChangeEffect EffectOf(const MapChanges& changes, const MapSnapshot& snapshot) const override;
  std::size_t bytes() const override {
    return sizeof(*this) + kIndexBytes + nodes_.size() * (sizeof(NodeNumber) + sizeof(WorldPoint));
  }
  Course CourseOn(const MapSnapshot& snapshot) const override;
  // Known for paths over nodes without an overlay, unless start and goal are positions on a graph that is
  // connected by sight. It begins at the last node that was passed.
  std::shared_ptr<const KeptAnswer> Rest(const Course::Place& place,
                                         const MapSnapshot& snapshot) const override;

  // Returns true if `result`, the answer to the same query on `graph`, shows that this answer does not hold
  // there.
  bool IsOutdatedBy(const WaypointGraph& graph, const absl::StatusOr<GraphPathResult>& result) const;

 private:
  // The node that stands in for a start or goal given as a position, and its distance.
  struct Seat {
    WorldPoint position;
    NodeNumber node = 0;
    double distance = 0.0;
  };
  // Start and goal if they are positions, which need no nodes when they see each other.
  struct Line {
    WorldPoint from;
    WorldPoint to;
  };

  // Sets the fields that depend on the nodes.
  void TakeNodes(const WaypointGraph& graph);
  void TakeReach(const WaypointGraph& graph);
  std::optional<Seat> TakeSeat(const WaypointGraph& graph, const GraphPlace& place, NodeNumber node);
  // Returns the cost of the path, or nullopt if it is not passable.
  std::optional<Cost> Price(const WaypointGraph& graph) const;
  // Returns a hash of the path's ids and positions, since a node number may be reused for another node.
  std::uint64_t HashOfNodes(const WaypointGraph& graph) const;
  bool SeesGoal(const WaypointGraph& graph) const;
  bool CanStillBeWalked(const WaypointGraph& graph) const;
  // Returns true if the node still stands in for the position, or if the end was given as a node.
  bool StandsIn(const WaypointGraph& graph, const std::optional<Seat>& seat) const;
  bool HasSameEnds(const WaypointGraph& graph) const {
    return StandsIn(graph, start_) && StandsIn(graph, goal_);
  }

  GraphQuery query_;
  bool has_overlay_ = false;
  // If not OK, the answer is this error and the fields below are unset.
  absl::Status error_;
  Outcome outcome_ = Outcome::kUnreachable;
  Cost cost_ = 0;
  std::vector<NodeNumber> nodes_;
  std::optional<Cost> price_;
  std::uint64_t hash_ = 0;
  std::optional<Seat> start_;
  std::optional<Seat> goal_;
  std::optional<Line> line_;
  GraphChange::Reach reach_;
};

}  // namespace waystar::core
