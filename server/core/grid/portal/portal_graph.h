// Graph of the portals that a query can reach; its edges are walks between portals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/components.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/portal_doors.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/grid/search/scratch.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Graph of one query. It is stored in the scratch; the destructor releases the maps.
//
// Not thread-safe.
class PortalGraph {
 public:
  static constexpr Cost kFar = std::numeric_limits<Cost>::max();

  // The arguments must outlive this.
  PortalGraph(const GridMap& map, World& world, const PortalQuery& query, Scratch& scratch);
  PortalGraph(const PortalGraph&) = delete;
  PortalGraph& operator=(const PortalGraph&) = delete;
  ~PortalGraph() { maps_.clear(); }

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
    return !query_.goals.empty() || maps_[goal_map_].walk->IsWalkable(query_.path.goal);
  }

  // Return lower bounds of the cost of a path without portals, and of one with portals.
  Cost BoundOfWalk() const { return Bound(0, query_.path.start, query_.path.goal); }
  Cost BoundThroughPortals() const;

  // Computes Door::rest: a lower bound of the cost from behind each door to a goal, ignoring walls; kFar if
  // no goal can be reached. Calls check() repeatedly and stops with its error. The argument of check() is the
  // number of connections evaluated since the last call.
  template <typename Check>
  absl::Status EstimateRests(Check check);

  // Places number the doors, then the goals; kNoDoor is the start.
  std::uint32_t GoalIndex(std::size_t goal) const { return static_cast<std::uint32_t>(doors_.size() + goal); }
  bool IsGoal(std::uint32_t place) const { return place >= doors_.size(); }
  Door& door(std::uint32_t index) { return doors_[index]; }
  // Return the cost of the place beyond the walk there, and the lower bound of the cost behind it.
  Cost CostOf(std::uint32_t place) const { return IsGoal(place) ? 0 : doors_[place].portal->cost; }
  Cost RestBehind(std::uint32_t place) const { return IsGoal(place) ? 0 : doors_[place].rest; }
  // Returns the cell where a walk to the place ends.
  Cell CellAt(std::uint32_t place) const {
    return IsGoal(place) ? goals_[place - doors_.size()] : doors_[place].from;
  }
  // Returns the cell where a walk from behind the door starts.
  Cell CellBehind(std::uint32_t door) const { return door == kNoDoor ? query_.path.start : doors_[door].to; }
  std::uint32_t MapIndexBehind(std::uint32_t door) const { return door == kNoDoor ? 0 : doors_[door].to_map; }
  const PortalScratch::Map& MapBehind(std::uint32_t door) const { return maps_[MapIndexBehind(door)]; }
  const std::vector<PortalScratch::Map>& maps() const { return maps_; }
  std::uint32_t goal_map() const { return goal_map_; }
  // Returns the reachable doors.
  const std::vector<std::uint32_t>& reached() const { return reached_; }

  // Calls visit(place, bound) for each place that can be reached on foot from behind a door; `bound` is a
  // lower bound of the cost.
  template <typename Visitor>
  void VisitPlacesFrom(std::uint32_t door, Visitor visit) const {
    const std::uint32_t map = MapIndexBehind(door);
    const std::uint32_t part = door == kNoDoor ? start_part_ : doors_[door].to_part;
    const Cell cell = CellBehind(door);
    for (std::uint32_t index = parts_[part].first_departure; index != kNoDoor;
         index = doors_[index].next_departure) {
      if (doors_[index].rest != kFar) {
        visit(index, Bound(map, cell, doors_[index].from));
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
  // Returns the number of the component that contains a cell of a map, after reaching the doors that depart
  // from it.
  std::uint32_t ReachPart(std::uint32_t map, Cell cell);
  absl::Status CheckGoals(const PortalScratch::Map& there) const;
  bool IsReached(Cell goal) { return parts_[PartOf(goal_map_, goal)].is_reached; }
  void ChooseStandIns();

  // Returns the number of the component that contains a cell of a map; assigns one if there is none.
  std::uint32_t PartOf(std::uint32_t map, Cell cell);
  const Components& ComponentsOf(std::uint32_t map) const;
  Cost Bound(std::uint32_t map, Cell from, Cell to) const;
  Cost BoundToGoals(Cell from) const;

  const GridMap& map_;
  const PortalQuery& query_;
  Scratch& scratch_;
  // The map of the query is the first.
  std::vector<PortalScratch::Map>& maps_;
  std::vector<Door>& doors_;
  std::vector<std::uint32_t>& reached_;
  std::vector<Cell>& goals_;
  std::vector<std::uint32_t>& goal_parts_;
  std::vector<PortalScratch::Part>& parts_;
  PortalDoors portal_doors_;
  std::uint32_t start_part_ = 0;
  std::uint32_t goal_map_ = 0;
  bool has_real_goal_ = false;
  bool is_walkable_to_ = false;
};

template <typename Check>
absl::Status PortalGraph::EstimateRests(Check check) {
  std::vector<PortalScratch::Rest>& heap = scratch_.portals().rests;
  const auto relax = [&](std::uint32_t index, Cost rest) {
    if (doors_[index].is_reached && rest < doors_[index].rest) {
      doors_[index].rest = rest;
      heap.push_back({rest, index});
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  };
  for (const std::uint32_t index : maps_[goal_map_].arrivals) {
    WAYSTAR_RETURN_IF_ERROR(check(goals_.size()));
    relax(index, BoundToGoals(doors_[index].to));
  }
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const PortalScratch::Rest next = heap.back();
    heap.pop_back();
    const Door& door = doors_[next.second];
    if (next.first > door.rest) {
      continue;
    }
    WAYSTAR_RETURN_IF_ERROR(check(maps_[door.from_map].arrivals.size()));
    for (const std::uint32_t index : maps_[door.from_map].arrivals) {
      relax(index, Bound(door.from_map, doors_[index].to, door.from) + door.portal->cost + door.rest);
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
