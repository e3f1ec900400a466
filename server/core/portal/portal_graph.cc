#include "server/core/portal/portal_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/components/nearest_connected.h"
#include "server/core/grid/lattice.h"
#include "server/core/search/checks.h"
#include "server/core/search/euclidean_cost.h"
#include "server/core/search/octile.h"
#include "server/core/search/reachability.h"
#include "server/core/walk/footprint.h"

namespace waystar::core {

PortalGraph::PortalGraph(const GridMap& map, World& world, const PortalQuery& query, Scratch& scratch)
    : map_(map),
      query_(query),
      scratch_(scratch),
      maps_(scratch.portals().maps),
      doors_(scratch.portals().doors),
      reached_(scratch.portals().reached),
      goals_(scratch.portals().goals),
      portal_doors_(world, query.path.footprint, query.required_tags, maps_, doors_) {
  scratch.portals().Clear();
}

absl::Status PortalGraph::Build() {
  const PathQuery& path = query_.path;
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(path.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map_, "start", path.start));
  portal_doors_.AddHome(map_);
  WAYSTAR_RETURN_IF_ERROR(
      CheckWalkable(map_, *maps_[0].walk, path.footprint, "start", path.start, ErrorReason::kStartBlocked));
  WAYSTAR_RETURN_IF_ERROR(FindGoalMap());
  portal_doors_.FindDoors();
  ReachDoors();
  if (!query_.goals.empty()) {
    has_real_goal_ = true;
    for (const Cell goal : query_.goals) {
      if (IsReached(goal)) {
        goals_.push_back(goal);
      }
    }
    return absl::OkStatus();
  }
  is_walkable_to_ = goal_map_ == 0 && AreConnected(0, path.start, path.goal);
  has_real_goal_ = IsReached(path.goal);
  if (has_real_goal_) {
    goals_.push_back(path.goal);
  } else if (path.unreachable_policy == UnreachablePolicy::kNearestByDistance) {
    ChooseStandIns();
  }
  return absl::OkStatus();
}

absl::Status PortalGraph::FindGoalMap() {
  const PathQuery& path = query_.path;
  const std::optional<std::uint32_t> index = portal_doors_.FindMap(query_.goal_map);
  if (!index) {
    return MakeError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "goal_map",
                     absl::StrCat("there is no map \"", query_.goal_map, "\" in this world"));
  }
  goal_map_ = *index;
  const PortalScratch::Map& there = maps_[goal_map_];
  if (!query_.goals.empty()) {
    return CheckGoals(there);
  }
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(*there.map, "goal", path.goal));
  if (path.unreachable_policy == UnreachablePolicy::kReport) {
    return CheckWalkable(*there.map, *there.walk, path.footprint, "goal", path.goal,
                         ErrorReason::kGoalBlocked);
  }
  return absl::OkStatus();
}

absl::Status PortalGraph::CheckGoals(const PortalScratch::Map& there) const {
  bool is_any_free = false;
  for (std::size_t i = 0; i < query_.goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckOnMap(*there.map, absl::StrCat("goals[", i, "]"), query_.goals[i]));
    is_any_free |= there.walk->IsWalkable(query_.goals[i]);
  }
  return is_any_free ? absl::OkStatus()
                     : MakeError(absl::StatusCode::kFailedPrecondition, ErrorReason::kGoalBlocked, "goals",
                                 "all goals are blocked");
}

void PortalGraph::ReachDoors() {
  const auto reach_from = [&](std::uint32_t map, Cell cell) {
    for (const std::uint32_t index : maps_[map].departures) {
      if (!doors_[index].is_reached && AreConnected(map, cell, doors_[index].from)) {
        doors_[index].is_reached = true;
        reached_.push_back(index);
      }
    }
  };
  reach_from(0, query_.path.start);
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    reach_from(doors_[reached_[i]].to_map, doors_[reached_[i]].to);
  }
}

bool PortalGraph::IsReached(Cell goal) const {
  return (goal_map_ == 0 && AreConnected(0, query_.path.start, goal)) ||
         std::any_of(reached_.begin(), reached_.end(), [&](std::uint32_t index) {
           return doors_[index].to_map == goal_map_ && AreConnected(goal_map_, doors_[index].to, goal);
         });
}

void PortalGraph::ChooseStandIns() {
  const Cell goal = query_.path.goal;
  const auto add_nearest = [&](Cell from) {
    NearestConnected(ComponentsOf(goal_map_), from, goal, scratch_.nearest_connected_buffer(), goals_);
  };
  if (goal_map_ == 0) {
    add_nearest(query_.path.start);
  }
  for (const std::uint32_t index : reached_) {
    if (doors_[index].to_map == goal_map_) {
      add_nearest(doors_[index].to);
    }
  }
  const Lattice lattice = LatticeOf(maps_[goal_map_].map->settings().connectivity);
  const auto squared_distance = [=](Cell cell) { return SquaredDistance(lattice, cell, goal); };
  std::sort(goals_.begin(), goals_.end(), [&](Cell a, Cell b) {
    const std::int64_t distance_a = squared_distance(a);
    const std::int64_t distance_b = squared_distance(b);
    return distance_a != distance_b ? distance_a < distance_b : RowMajorLess(a, b);
  });
  goals_.erase(std::unique(goals_.begin(), goals_.end()), goals_.end());
  goals_.erase(
      std::find_if(goals_.begin(), goals_.end(),
                   [&](Cell cell) { return squared_distance(cell) > squared_distance(goals_.front()); }),
      goals_.end());
}

const Components& PortalGraph::ComponentsOf(std::uint32_t map) const {
  return maps_[map].walk->components(AdjacencyOf(*maps_[map].map, query_.path.corner_rule));
}

Cost PortalGraph::Bound(std::uint32_t map, Cell from, Cell to) const {
  const GridMap& grid = *maps_[map].map;
  return query_.path.algorithm == Algorithm::kLazyThetaStar ? EuclideanCost(from, to, grid.min_straight())
                                                            : OctileHeuristic(grid, to)(from);
}

Cost PortalGraph::BoundToGoals(Cell from) const {
  Cost least = kFar;
  for (const Cell goal : goals_) {
    least = std::min(least, Bound(goal_map_, from, goal));
  }
  return least;
}

// It is the sum of the bounds of the ways to the first portal and from the last one.
Cost PortalGraph::BoundThroughPortals() const {
  Cost to_first = kFar;
  for (const std::uint32_t index : maps_[0].departures) {
    const Door& door = doors_[index];
    if (door.is_reached) {
      to_first = std::min(to_first, Bound(0, query_.path.start, door.from) + door.portal->cost);
    }
  }
  Cost from_last = kFar;
  for (const std::uint32_t index : maps_[goal_map_].arrivals) {
    if (doors_[index].is_reached) {
      from_last = std::min(from_last, BoundToGoals(doors_[index].to));
    }
  }
  return to_first == kFar || from_last == kFar ? kFar : to_first + from_last;
}

}  // namespace waystar::core
