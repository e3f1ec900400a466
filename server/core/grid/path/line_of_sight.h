// Line of sight at any angle between the centres of cells, and the cost of such lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "absl/status/statusor.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Rule for lines at corners.
struct SightRule {
  // NOLINTNEXTLINE(google-explicit-constructor): a rule among squares is one.
  SightRule(CornerRule among_squares) : corner(among_squares) {}
  SightRule(CornerRule among_squares, Lattice cells) : corner(among_squares), lattice(cells) {}

  CornerRule corner;
  Lattice lattice = Lattice::kSquare;

  friend bool operator==(const SightRule&, const SightRule&) = default;
};

// Returns the rule for lines on a map in queries under `rule`. 4-connected and hexagonal maps, which have no
// diagonal steps, always use kNoCornerCutting.
inline SightRule LineRule(Connectivity connectivity, CornerRule rule) {
  return {connectivity == Connectivity::kEight ? rule : CornerRule::kNoCornerCutting,
          LatticeOf(connectivity)};
}

// Returns true if an agent may go straight from the centre of one cell to that of the other. Every cell whose
// interior the segment crosses must be walkable. Where it passes exactly through a point where four cells
// meet, it makes a diagonal step, which the corner rule must allow. Between neighbours, the result is whether
// the step is legal. Among hexagons, every one that shares a point with the segment must be walkable. The
// result is computed in integers; it is exact and symmetric.
//
// Costs O(short side), or less if a blocked cell is near the end that is checked first. The cells of a row,
// or of a column if the segment is steep, are checked 64 at a time.
//
// REQUIRES: both cells are on the map.
bool HasLineOfSight(const WalkGrid& walk, SightRule rule, Cell from, Cell to);

// Returns the cost of the straight line between two centres: the sum, over the cells that it crosses, of the
// length inside the cell times the cost of a straight step into it. A large agent's cell is that of its
// position, and a step there costs as much as the most expensive cell that it covers. Among hexagons the
// length is in units of a step, and a part along an edge counts half for each side. The split at cell borders
// is exact; only the square root and the final products are rounded, so the result is the same on every
// machine and symmetric. Where all cells cost the same, it is the distance times that cost.
//
// The cost differs from that of the same steps in a search over cells. There the entered cell determines the
// cost of the whole step; here each cell determines the cost of its own part, and a diagonal costs the square
// root of 2 regardless of the map's diagonal cost.
//
// REQUIRES: both cells are on the map; the line is free for an agent of the footprint of `dearest`.
double LineCost(DearestOnPath& dearest, Cell from, Cell to);

// Calls visit(from, to, place, whole) for each step between cells on the segment between two centres:
// straight where it crosses an edge, diagonal where it passes exactly through a point where four cells meet.
// The crossing is at the exact fraction `place` / `whole` of the segment. Stops when `visit` returns false.
// Returns true if it never did.
template <typename Visitor>
bool ForEachCrossing(Cell from, Cell to, Visitor visit) {
  const std::int64_t dx = std::abs(to.x - from.x);
  const std::int64_t dy = std::abs(to.y - from.y);
  const int step_x = Sign(to.x - from.x);
  const int step_y = Sign(to.y - from.y);
  // Positions on the segment as integers, scaled so that every crossing of an edge is an integer.
  const std::int64_t per_column = std::max<std::int64_t>(dy, 1);
  const std::int64_t per_row = std::max<std::int64_t>(dx, 1);
  const std::int64_t whole = 2 * per_column * per_row;
  std::int64_t column_edge = dx == 0 ? whole : per_column;
  std::int64_t row_edge = dy == 0 ? whole : per_row;
  for (Cell cell = from; cell != to;) {
    const std::int64_t edge = std::min(column_edge, row_edge);
    Cell next = cell;
    if (edge == column_edge) {
      next.x += step_x;
      column_edge += 2 * per_column;
    }
    if (edge == row_edge) {
      next.y += step_y;
      row_edge += 2 * per_row;
    }
    if (!visit(cell, next, edge, whole)) {
      return false;
    }
    cell = next;
  }
  return true;
}

// As ForEachCrossing, but calls visit(from, to). HasLineOfSight checks these steps; between cells of one row,
// column or diagonal they are the steps of a path.
template <typename Visitor>
bool ForEachStepOnLine(Cell from, Cell to, Visitor visit) {
  return ForEachCrossing(from, to, [&](Cell cell, Cell next, std::int64_t /*place*/, std::int64_t /*whole*/) {
    return visit(cell, next);
  });
}

// Calls visit(cell, part, whole) for the part of the segment between two centres that lies in each cell, in
// order. The fraction `part` / `whole` is exact, and the parts add up to `whole`. Visits nothing if the two
// cells are equal.
template <typename Visitor>
void ForEachPartOfLine(Cell from, Cell to, Visitor visit) {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  ForEachCrossing(from, to, [&](Cell cell, Cell /*next*/, std::int64_t place, std::int64_t whole) {
    visit(cell, place - begin, whole);
    begin = place;
    end = whole;
    return true;
  });
  if (from != to) {
    visit(to, end - begin, end);
  }
}

// Position among cells: the centre of cell (x, y) is (x, y).
struct CellPoint {
  double x = 0.0;
  double y = 0.0;

  friend bool operator==(const CellPoint&, const CellPoint&) = default;
};

struct RayHit {
  bool is_blocked = false;
  // First cell where the agent cannot stand, or the cell of the ray's end if there is none.
  Cell cell;
  // Last cell before it where the agent can stand, or the cell of the end; none if the ray starts blocked.
  std::optional<Cell> last_free;
  // Point where the ray enters the cell, or its end, and the fraction of the ray's length up to there.
  CellPoint position;
  double fraction = 1.0;
};

// Casts a ray. Positions are rounded to the nearest 1/65536 of a cell; all further computation is exact, in
// integers. A position on the border between cells belongs to the cell to the right or below. Where the ray
// passes exactly through the point where four cells meet, it makes a diagonal step, which the corner rule
// must allow (never on 4-connected maps: LineRule). If it does not, the hit cell is the one ahead if that is
// blocked, else the blocked one of those beside the step, the one in the ray's row first. Between centres of
// cells the result agrees with HasLineOfSight.
//
// Among hexagons the ray passes every one that shares a point with it, even if it is only touched. A position
// on a border is in all hexagons that meet there, and on the map if one of them is.
//
// Costs several nanoseconds per cell on the ray.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "from.x", "from.y", "to.x" or "to.y" for a value that is not
// finite, or with "footprint"; OUT_OF_RANGE / OFF_MAP with "from" or "to".
absl::StatusOr<RayHit> CastRay(const GridMap& map, const Agent& agent, CellPoint from, CellPoint to);

}  // namespace waystar::core
