// Construction of a path from what a search leaves behind, in the form that was asked for.
//
// Paths are handled by their corners: the start, each cell where the direction changes, and the end.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Follows the steps that a search cell by cell left in `scratch` from `end` back to `start`. It fills
// `corners`, which is empty.
void TraceSteps(Cell start, Cell end, Scratch& scratch, std::vector<Cell>& corners);

// Follows the jumps that a search over jump points left in scratch.nodes(). From a node's parent to the node
// lead a diagonal and then a straight run; on a 4-connected map a horizontal and then a vertical one. It
// fills `corners`, which is empty. A search that had no room for its first node leads to its start alone.
void TraceJumps(Connectivity connectivity, Cell end, const NodeTable& nodes, std::vector<Cell>& corners);

// Follows the straight lines that an any-angle search left in `nodes`, otherwise as TraceJumps. It fills
// `points`, which is empty.
void TraceLines(Cell end, const NodeTable& nodes, std::vector<Cell>& points);

// Appends every cell of the path to `cells`.
void ExpandCells(absl::Span<const Cell> corners, std::vector<Cell>& cells);

// Appends the direction of every step to `directions`.
void ExpandDirections(absl::Span<const Cell> corners, std::vector<Direction>& directions);

// Returns what the path costs an agent of `footprint` x `footprint` cells. Two paths of the same steps cost
// the same to the last bit, whatever their order.
double CostOf(const GridMap& map, int footprint, absl::Span<const Cell> corners);

// Fills the result's cost, and its points or directions, which live in `scratch`, from the corners of a path
// cell by cell that lie in scratch.corners(). `walk` is map.walk(query.footprint).
void WritePathForm(const GridMap& map, const WalkGrid& walk, const PathQuery& query, Scratch& scratch,
                   PathResult& result);

// As above, for points that are to be smoothed, each of which sees the next.
void WriteSmoothed(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                   std::vector<Cell>& points, PathResult& result);

}  // namespace waystar::core
