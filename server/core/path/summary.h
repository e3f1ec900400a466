// Summary of a path: its length, its turns and its legs by terrain.
#pragma once

#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"

namespace waystar::core {

// A part of a path over one terrain.
struct PathLeg {
  TerrainId terrain = 0;
  // The number of cells that are entered.
  int cells = 0;
  // The Euclidean length in cells.
  double length = 0.0;
  double cost = 0.0;
};

struct PathSummary {
  // The Euclidean length in cells.
  double length = 0.0;
  // The number of points where the direction changes.
  int turns = 0;
  std::vector<PathLeg> legs;
};

// Summarizes the path that FindPath returned on `map` for `query`, whatever its form. The terrain of a step
// is that of the cell whose cost it pays: the one entered, or for a large agent the dearest below it. A
// straight line of another angle is of each terrain as far as the cells that it crosses pay for it. The costs
// of the legs add up to that of the path, up to rounding. The cost is a look at each cell of the path.
PathSummary Summarize(const GridMap& map, const PathQuery& query, const PathResult& result);

}  // namespace waystar::core
