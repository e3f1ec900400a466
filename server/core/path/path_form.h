// Conversion of a path to the form that was asked for.
#pragma once

#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Fills the result's cost, and its points or directions, which live in `scratch`, from the corners of a path
// cell by cell that lie in scratch.corners(). `walk` is map.walk(query.footprint).
void WritePathForm(const GridMap& map, const WalkGrid& walk, const PathQuery& query, Scratch& scratch,
                   PathResult& result);

// As above, for points that are to be smoothed, each of which sees the next.
void WriteSmoothed(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                   std::vector<Cell>& points, PathResult& result);

}  // namespace waystar::core
