// Smoothing: turns paths over cells into any-angle paths by pulling the string taut.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the sum of LineCost over consecutive points; 0 for fewer than two.
double PolylineCost(DearestOnPath& dearest, absl::Span<const Cell> points);

// Shortens a path in place. `points` holds all its cells, or its turning points, or any points of which
// consecutive ones are mutually visible (HasLineOfSight on `walk` under `rule`, from LineRule). All cells are
// the best input, because they offer the most turning points.
//
// Afterwards the first and last point are unchanged, consecutive points are mutually visible, and no inner
// point can be removed: its neighbours are not mutually visible, or only along a line of higher LineCost. The
// PolylineCost does not increase, up to rounding.
//
// Where all cells cost the same, points are also moved towards the taut string, so that some may not be on
// the given path. Where costs differ, points are only removed, and each shortcut costs at most as much as the
// part it replaces. The result is shorter, but not necessarily the shortest.
//
// Allocates no memory. Costs about as much as checking the cells of the path a few dozen times.
//
// REQUIRES: all points are on the map of `dearest`; `walk` has its walkable cells for the same footprint.
void Smooth(DearestOnPath& dearest, const WalkGrid& walk, SightRule rule, std::vector<Cell>& points);

}  // namespace waystar::core
