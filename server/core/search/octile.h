// Admissible, consistent heuristics.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/open_ground.h"

namespace waystar::core {

// Returns the cost of a way over open ground.
inline Cost OctileCost(Cell from, Cell to, Cost straight, Cost diagonal) {
  const Cost dx = std::abs(from.x - to.x);
  const Cost dy = std::abs(from.y - to.y);
  return diagonal * std::min(dx, dy) + straight * std::abs(dx - dy);
}

// The octile distance to the goal over the map's cheapest cells. On 4-connected maps it is the Manhattan
// distance, on maps of hexagons the number of steps. It is admissible, never more than the cost of a path to
// the goal, and consistent: a step changes it by at most the step's cost.
class OctileHeuristic {
 public:
  OctileHeuristic(const GridMap& map, Cell goal) : goal_(goal), ground_(OpenGround<Cost>::Of(map)) {}

  // Makes the heuristic that is zero everywhere.
  static OctileHeuristic Zero(Cell goal) { return {goal, OpenGround<Cost>{}}; }

  Cost operator()(Cell cell) const { return ground_.CostOf(goal_.x - cell.x, goal_.y - cell.y); }

 private:
  OctileHeuristic(Cell goal, const OpenGround<Cost>& ground) : goal_(goal), ground_(ground) {}

  Cell goal_;
  OpenGround<Cost> ground_;
};

}  // namespace waystar::core
