#include "server/core/grid/portal/portal_graph.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/search/checks.h"

namespace waystar::core {

PortalGraph::PortalGraph(const GridMap& map, World& world, const PortalQuery& query, Scratch& scratch)
    : map_(map), world_(world), query_(query), scratch_(scratch) {
  scratch.portals().Clear();
}

absl::Status PortalGraph::Build() {
  const PathQuery& path = query_.path;
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(path.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map_, "start", path.start));
  net_.emplace(map_, world_,
               Agent{.corner_rule = path.corner_rule,
                     .footprint = path.footprint,
                     .required_tags = query_.required_tags});
  WAYSTAR_RETURN_IF_ERROR(
      CheckWalkable(map_, *maps()[0].walk, path.footprint, "start", path.start, ErrorReason::kStartBlocked));
  WAYSTAR_RETURN_IF_ERROR(FindGoalMap());
  net_->FindDoors();
  ReachDoors();
  if (query_.goals.empty()) {
    is_walkable_to_ = goal_map_ == 0 && net_->PartOf(0, path.goal) == start_part_;
    has_real_goal_ = IsReached(path.goal);
    if (has_real_goal_) {
      goals_.push_back(path.goal);
    } else if (path.unreachable_policy == UnreachablePolicy::kNearestByDistance) {
      ChooseStandIns();
    }
  } else {
    has_real_goal_ = true;
    std::copy_if(query_.goals.begin(), query_.goals.end(), std::back_inserter(goals_),
                 [this](Cell goal) { return IsReached(goal); });
  }
  for (const Cell goal : goals_) {
    goal_parts_.push_back(net_->PartOf(goal_map_, goal));
  }
  return absl::OkStatus();
}

absl::Status PortalGraph::FindGoalMap() {
  const PathQuery& path = query_.path;
  const std::optional<std::uint32_t> index = net_->FindMap(query_.goal_map);
  if (!index) {
    return MakeError(ErrorReason::kMapNotFound, "goal_map",
                     absl::StrCat("there is no map \"", query_.goal_map, "\" in this world"));
  }
  goal_map_ = *index;
  const GridLayer& there = maps()[goal_map_];
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

absl::Status PortalGraph::CheckGoals(const GridLayer& there) const {
  bool is_any_free = false;
  for (std::size_t i = 0; i < query_.goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckOnMap(*there.map, absl::StrCat("goals[", i, "]"), query_.goals[i]));
    is_any_free |= there.walk->IsWalkable(query_.goals[i]);
  }
  return is_any_free ? absl::OkStatus()
                     : MakeError(ErrorReason::kGoalBlocked, "goals", "all goals are blocked");
}

void PortalGraph::ReachDoors() {
  start_part_ = ReachPart(0, query_.path.start);
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    Door& next = door(reached_[i]);
    next.to_part = ReachPart(next.to_map, next.to);
  }
}

std::uint32_t PortalGraph::ReachPart(std::uint32_t map, Cell cell) {
  if (!maps()[map].is_reached) {
    net_->ListDeparturesByPart(map);
  }
  const std::uint32_t number = net_->PartOf(map, cell);
  GridPart& part = net_->part(number);
  if (!part.is_reached) {
    part.is_reached = true;
    for (std::uint32_t index = part.first_departure; index != kNoDoor; index = door(index).next_departure) {
      door(index).is_reached = true;
      reached_.push_back(index);
    }
  }
  return number;
}

void PortalGraph::ChooseStandIns() {
  const Cell goal = query_.path.goal;
  std::vector<bool> is_done(net_->part_count(), false);
  const auto add_nearest = [&](std::uint32_t part, Cell from) {
    if (!is_done[part]) {
      is_done[part] = true;
      NearestConnected(net_->ComponentsOf(goal_map_), from, goal, scratch_.nearest_connected_buffer(),
                       goals_);
    }
  };
  if (goal_map_ == 0) {
    add_nearest(start_part_, query_.path.start);
  }
  for (const std::uint32_t index : reached_) {
    if (door(index).to_map == goal_map_) {
      add_nearest(door(index).to_part, door(index).to);
    }
  }
  const Lattice lattice = LatticeOf(maps()[goal_map_].map->settings().connectivity);
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

Cost PortalGraph::Bound(std::uint32_t map, Cell from, Cell to) const {
  const GridMap& grid = *maps()[map].map;
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

// Returns the sum of the bounds of the walks to the first portal and from the last one.
Cost PortalGraph::BoundThroughPortals() const {
  Cost to_first = kFar;
  for (const std::uint32_t index : maps()[0].departures) {
    const Door& first = door(index);
    if (first.is_reached) {
      to_first = std::min(to_first, Bound(0, query_.path.start, first.from) + first.portal->cost);
    }
  }
  Cost from_last = kFar;
  for (const std::uint32_t index : maps()[goal_map_].arrivals) {
    if (door(index).is_reached) {
      from_last = std::min(from_last, BoundToGoals(door(index).to));
    }
  }
  return to_first == kFar || from_last == kFar ? kFar : to_first + from_last;
}

}  // namespace waystar::core
