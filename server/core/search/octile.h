// What a path to the goal costs at the least.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/map/cell.h"
#include "server/core/map/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_settings.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Never more than the cost of any path to the goal, and consistent: a step changes it by at most the step's
// cost.
class Octile {
 public:
  Octile(const GridMap& map, const PathQuery& query) : goal_(query.goal) {
    if (query.algorithm == Algorithm::kDijkstra) {
      return;
    }
    const StepCosts& costs = map.step_costs();
    straight_ = costs.min_straight;
    diagonal_ = map.settings().connectivity == Connectivity::kFour ? 2 * straight_ : costs.min_diagonal;
  }

  // The octile distance; with a diagonal as dear as two straight steps, the Manhattan distance.
  Cost operator()(Cell cell) const {
    const Cost dx = std::abs(cell.x - goal_.x);
    const Cost dy = std::abs(cell.y - goal_.y);
    return diagonal_ * std::min(dx, dy) + straight_ * std::abs(dx - dy);
  }

 private:
  Cell goal_;
  Cost straight_ = 0;
  Cost diagonal_ = 0;
};

}  // namespace waystar::core
