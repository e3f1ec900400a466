// Construction of a path from the state of a finished search, in the requested form; and smoothing, which
// turns paths over cells into any-angle paths by pulling the string taut.
//
// Paths are represented by their corners: the start, each cell where the direction changes, and the end.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Follows the steps that a cell-by-cell search left in `scratch` from `end` back to `start`, and fills
// `corners`, which must be empty.
void TraceSteps(Cell start, Cell end, Scratch& scratch, std::vector<Cell>& corners);

// Follows the jumps that a search over jump points left in scratch.nodes(), and fills `corners`, which must
// be empty. A node's parent leads to the node by a diagonal and then a straight run; on a 4-connected map by
// a horizontal and then a vertical run. If the search had no room for its first node, the path is its start
// alone.
void TraceJumps(Connectivity connectivity, Cell end, const NodeTable& nodes, std::vector<Cell>& corners);

// As TraceJumps, for the straight lines that an any-angle search left in `nodes`. Fills `points`, which must
// be empty.
void TraceLines(Cell end, const NodeTable& nodes, std::vector<Cell>& points);

// Returns the corners of a path of all its cells.
// REQUIRES: there is a cell.
std::vector<Cell> CornersOf(absl::Span<const Cell> cells);

// Appends every cell of the path to `cells`.
void ExpandCells(absl::Span<const Cell> corners, std::vector<Cell>& cells);

// Appends the direction of every step to `directions`.
void ExpandDirections(absl::Span<const Cell> corners, std::vector<Direction>& directions);

// Returns the cost of the path for an agent of `footprint` x `footprint` cells. Paths with the same steps in
// a different order have bit-identical costs. A path may enter impassable terrain if `enters_impassable`.
double CostOf(const GridMap& map, int footprint, absl::Span<const Cell> corners,
              bool enters_impassable = false);

// Fills the cost of the result, and its points or directions, which are stored in `scratch`, from the corners
// in scratch.corners(). `walk` is map.walk(query.footprint).
void WritePathForm(const GridMap& map, const WalkGrid& walk, const PathQuery& query, Scratch& scratch,
                   PathResult& result);

// Smooths `points`, of which consecutive ones must be mutually visible, and fills the result from them.
void WriteSmoothed(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                   std::vector<Cell>& points, PathResult& result);

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
