// Admissible, consistent heuristics.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/open_ground.h"
#include "server/core/grid/search/cheap_places.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the cost of a path over open ground.
inline Cost OctileCost(Cell from, Cell to, Cost straight, Cost diagonal) {
  const Cost dx = std::abs(from.x - to.x);
  const Cost dy = std::abs(from.y - to.y);
  return diagonal * std::min(dx, dy) + straight * std::abs(dx - dy);
}

// Octile distance to the goal over the map's cheapest cells: the Manhattan distance on 4-connected maps, the
// number of steps on hexagonal ones. It is admissible, never more than the cost of a path to the goal, and
// consistent: a step changes it by at most the step's cost.
class OctileHeuristic {
 public:
  OctileHeuristic(const GridMap& map, Cell goal) : goal_(goal), ground_(OpenGround<Cost>::Of(map)) {}

  Cost operator()(Cell cell) const { return ground_.CostOf(goal_.x - cell.x, goal_.y - cell.y); }

 private:
  Cell goal_;
  OpenGround<Cost> ground_;
};

// Octile distance over the map's CostFloor, which treats a few cheap places separately. Admissible,
// consistent, and never less than OctileHeuristic.
class CostFloorHeuristic {
 public:
  CostFloorHeuristic(const GridMap& map, Cell goal)
      : goal_(goal), everywhere_(map.cost_floor().everywhere), places_(map.cost_floor()) {
    places_.AddGoal(goal);
    places_.Finish();
  }

  // Returns a heuristic that is zero everywhere.
  static CostFloorHeuristic Zero(Cell goal) { return CostFloorHeuristic(goal); }

  Cost operator()(Cell cell) const {
    const int dx = goal_.x - cell.x;
    const int dy = goal_.y - cell.y;
    const Cost cost = everywhere_.CostOf(dx, dy);
    return places_.empty() ? cost : cost + places_.Lower(places_.elsewhere().CostOf(dx, dy), cell);
  }

 private:
  explicit CostFloorHeuristic(Cell goal) : goal_(goal) {}

  Cell goal_;
  OpenGround<Cost> everywhere_;
  CheapPlaces places_;
};

}  // namespace waystar::core
