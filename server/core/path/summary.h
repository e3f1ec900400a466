// What a path is like, for those who show it or plan by it.
#pragma once

#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"

namespace waystar::core {

// A part of a path over one terrain.
struct PathLeg {
  TerrainId terrain = 0;
  // That are entered.
  int cells = 0;
  // Euclidean, in cells.
  double length = 0.0;
  double cost = 0.0;
};

struct PathSummary {
  // Euclidean, in cells.
  double length = 0.0;
  // Where the direction changes.
  int turns = 0;
  std::vector<PathLeg> legs;
};

// Of the path that FindPath gave on `map` for `query`, whatever its form. The terrain of a step is that of
// the cell whose cost it pays: the one entered, or for a large agent the dearest below it. A straight line of
// another angle is of each terrain as far as it lies in its cells. The costs of the legs add up to that of
// the path, but for rounding. Costs a look at each cell of the path.
PathSummary Summarize(const GridMap& map, const PathQuery& query, const PathResult& result);

}  // namespace waystar::core
