// What is left to pay at the least.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// What a way over open ground costs.
inline Cost OctileCost(Cell from, Cell to, Cost straight, Cost diagonal) {
  const Cost dx = std::abs(from.x - to.x);
  const Cost dy = std::abs(from.y - to.y);
  return diagonal * std::min(dx, dy) + straight * std::abs(dx - dy);
}

// The octile distance to the goal over the map's cheapest cells; on 4-connected maps the Manhattan
// distance. Never more than the cost of any path to the goal, and consistent: a step changes it by at most
// the step's cost.
class OctileHeuristic {
 public:
  OctileHeuristic(const GridMap& map, Cell goal)
      : OctileHeuristic(goal, map.min_straight(),
                        map.settings().connectivity == Connectivity::kFour ? 2 * map.min_straight()
                                                                           : map.min_diagonal()) {}

  // Zero everywhere.
  static OctileHeuristic Zero(Cell goal) { return {goal, 0, 0}; }

  Cost operator()(Cell cell) const { return OctileCost(cell, goal_, straight_, diagonal_); }

 private:
  OctileHeuristic(Cell goal, Cost straight, Cost diagonal)
      : goal_(goal), straight_(straight), diagonal_(diagonal) {}

  Cell goal_;
  Cost straight_;
  Cost diagonal_;
};

}  // namespace waystar::core
