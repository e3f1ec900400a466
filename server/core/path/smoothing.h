// Smoothing: makes any-angle paths out of paths over cells by pulling the string taut.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/path/line_of_sight.h"
#include "server/core/search/dearest_cells.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Returns the sum of LineCost over consecutive points; 0 for fewer than two.
double PolylineCost(DearestOnPath& dearest, absl::Span<const Cell> points);

// Shortens a path in place. `points` holds all its cells, or only its turning points, or any points of which
// consecutive ones see each other (HasLineOfSight on `walk` under `rule`, which LineRule gives). Every cell
// is the best input: it leaves the most points to turn at.
//
// Afterwards the first and the last point are the same, consecutive points see each other, and no point
// between can be left out: its neighbours do not see each other, or only along a line of higher LineCost. The
// PolylineCost has not grown beyond rounding.
//
// Where all cells cost the same, points are not only left out but also moved towards where a taut string
// would lie, so that some may not be of the given path. Where costs differ, points are only left out, each
// shortcut costing at most what it replaces. Either way the path is shorter, not the shortest.
//
// It allocates no memory, and costs about as much as looking along the path a few dozen times.
//
// REQUIRES: all points are on the map of `dearest`, whose walkable cells, for the same footprint, are `walk`.
void Smooth(DearestOnPath& dearest, const WalkGrid& walk, SightRule rule, std::vector<Cell>& points);

}  // namespace waystar::core
