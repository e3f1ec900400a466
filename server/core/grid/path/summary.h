// Summary of a path: its length, its turns and its legs by terrain.
#pragma once

#include <vector>

#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Part of a path over one terrain.
struct PathLeg {
  TerrainId terrain = 0;
  // Number of cells entered.
  int cells = 0;
  // Euclidean length in cells.
  double length = 0.0;
  double cost = 0.0;
};

struct PathSummary {
  // Euclidean length in cells.
  double length = 0.0;
  // Number of points where the direction changes.
  int turns = 0;
  std::vector<PathLeg> legs;
};

// Summarizes a path of any form that FindPath returned on `map` for `query`. The terrain of a step is that of
// the cell whose cost it pays: the cell entered or, for a large agent, the most expensive cell that it
// covers. A straight line at another angle is split among the terrains of the cells that it crosses. The
// costs of the legs add up to that of the path, up to rounding. Time is proportional to the cells of the
// path.
PathSummary Summarize(const GridMap& map, const PathQuery& query, const PathResult& result);

}  // namespace waystar::core
