// Line of sight at any angle between the centres of cells, and the cost of such lines.
#pragma once

#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/lattice.h"
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

// Returns the rule for lines on a map when a query asks for `rule`. 4-connected and hexagonal maps, which
// have no diagonal steps, always use kNoCornerCutting.
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

}  // namespace waystar::core
