// Graph of the portals that a query can reach; its edges are walks between portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/portal/portal_net.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Graph of one query.
//
// Not thread-safe.
class PortalGraph {
 public:
  static constexpr Cost kFar = DoorCosts<Cost>::kFar;

  // The arguments must outlive this.
  PortalGraph(const GridMap& map, World& world, const PortalQuery& query, Scratch& scratch);
  PortalGraph(const PortalGraph&) = delete;
  PortalGraph& operator=(const PortalGraph&) = delete;

  // Checks start and goal, and finds the usable portals. Returns the errors of FindPathThroughPortals.
  absl::Status Build();

  // Returns the goal, or the reachable ones of several, or the cells that replace it under the unreachable
  // policy. Empty if there is nowhere to go.
  const std::vector<Cell>& goals() const { return goals_; }
  // Returns true if goals() are the query's own, not replacements.
  bool has_real_goal() const { return has_real_goal_; }
  // Returns true if a goal can be reached without portals.
  bool is_walkable_to() const { return is_walkable_to_; }
  bool IsGoalWalkable() const {
    return !query_.goals.empty() || maps()[goal_map_].walk->IsWalkable(query_.path.goal);
  }

  // Return lower bounds of the cost of a path without portals, and of one with portals.
  Cost BoundOfWalk() const { return Bound(0, query_.path.start, query_.path.goal); }
  Cost BoundThroughPortals() const;

  // Computes a lower bound of the cost from behind each door to a goal, ignoring walls; kFar if no goal can
  // be reached. Calls check() repeatedly and stops with its error. The argument of check() is the number of
  // connections evaluated since the last call.
  template <typename Check>
  absl::Status EstimateRests(Check check);

  // Places number the doors, then the goals; kNoDoor is the start.
  std::uint32_t GoalIndex(std::size_t goal) const {
    return static_cast<std::uint32_t>(net_->door_count() + goal);
  }
  bool IsGoal(std::uint32_t place) const { return place >= net_->door_count(); }
  Door& door(std::uint32_t index) { return net_->door(index); }
  const Door& door(std::uint32_t index) const { return net_->door(index); }
  // Return the cost of the place beyond the walk there, and the lower bound of the cost behind it.
  Cost CostOf(std::uint32_t place) const { return IsGoal(place) ? 0 : door(place).portal->cost; }
  Cost RestBehind(std::uint32_t place) const { return IsGoal(place) ? 0 : rests_[place]; }
  // Returns the cell where a walk to the place ends.
  Cell CellAt(std::uint32_t place) const {
    return IsGoal(place) ? goals_[place - net_->door_count()] : door(place).from;
  }
  // Returns the cell where a walk from behind the door starts.
  Cell CellBehind(std::uint32_t from) const { return from == kNoDoor ? query_.path.start : door(from).to; }
  std::uint32_t MapIndexBehind(std::uint32_t from) const { return from == kNoDoor ? 0 : door(from).to_map; }
  const GridLayer& MapBehind(std::uint32_t from) const { return maps()[MapIndexBehind(from)]; }
  const std::vector<GridLayer>& maps() const { return net_->maps(); }
  std::uint32_t goal_map() const { return goal_map_; }
  // Returns the reachable doors.
  const std::vector<std::uint32_t>& reached() const { return reached_; }

  // Calls visit(place, bound) for each place that can be reached on foot from behind a door; `bound` is a
  // lower bound of the cost.
  template <typename Visitor>
  void VisitPlacesFrom(std::uint32_t from, Visitor visit) {
    const std::uint32_t map = MapIndexBehind(from);
    const std::uint32_t part = from == kNoDoor ? start_part_ : door(from).to_part;
    const Cell cell = CellBehind(from);
    for (std::uint32_t index = net_->part(part).first_departure; index != kNoDoor;
         index = door(index).next_departure) {
      if (rests_[index] != kFar) {
        visit(index, Bound(map, cell, door(index).from));
      }
    }
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (goal_parts_[i] == part) {
        visit(GoalIndex(i), Bound(map, cell, goals_[i]));
      }
    }
  }

 private:
  absl::Status FindGoalMap();
  void ReachDoors();
  // Returns the number of a cell's component, after marking it and the doors that depart from it as reached.
  std::uint32_t ReachPart(std::uint32_t map, Cell cell);
  absl::Status CheckGoals(const GridLayer& there) const;
  bool IsReached(Cell goal) { return net_->part(net_->PartOf(goal_map_, goal)).is_reached; }
  void ChooseStandIns();
  Cost Bound(std::uint32_t map, Cell from, Cell to) const;
  Cost BoundToGoals(Cell from) const;

  const GridMap& map_;
  World& world_;
  const PortalQuery& query_;
  Scratch& scratch_;
  // Doors and parts that the query can use; set by Build.
  std::optional<GridPortalNet> net_;
  std::vector<std::uint32_t> reached_;
  std::vector<Cell> goals_;
  std::vector<std::uint32_t> goal_parts_;
  DoorCosts<Cost> rests_;
  std::uint32_t start_part_ = 0;
  std::uint32_t goal_map_ = 0;
  bool has_real_goal_ = false;
  bool is_walkable_to_ = false;
};

template <typename Check>
absl::Status PortalGraph::EstimateRests(Check check) {
  rests_ = DoorCosts<Cost>(net_->door_count());
  const auto relax = [&](std::uint32_t index, Cost rest) {
    if (door(index).is_reached) {
      rests_.Reach(index, rest);
    }
  };
  for (const std::uint32_t index : maps()[goal_map_].arrivals) {
    WAYSTAR_RETURN_IF_ERROR(check(goals_.size()));
    relax(index, BoundToGoals(door(index).to));
  }
  return rests_.Spread([&](std::uint32_t next, Cost rest) {
    const Door& after = door(next);
    const std::vector<std::uint32_t>& arrivals = maps()[after.from_map].arrivals;
    absl::Status status = check(arrivals.size());
    for (std::size_t i = 0; status.ok() && i < arrivals.size(); ++i) {
      relax(arrivals[i], Bound(after.from_map, door(arrivals[i]).to, after.from) + after.portal->cost + rest);
    }
    return status;
  });
}

}  // namespace waystar::core
