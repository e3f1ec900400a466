// Line of sight of any angle between the centres of cells, and the cost of such lines.
#pragma once

#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/grid/lattice.h"
#include "server/core/search/dearest_cells.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// The rule that lines must obey at corners.
struct SightRule {
  // NOLINTNEXTLINE(google-explicit-constructor): a rule among squares is one.
  SightRule(CornerRule among_squares) : corner(among_squares) {}
  SightRule(CornerRule among_squares, Lattice cells) : corner(among_squares), lattice(cells) {}

  CornerRule corner;
  Lattice lattice = Lattice::kSquare;

  friend bool operator==(const SightRule&, const SightRule&) = default;
};

// Returns the rule that lines on a map obey when a query asks for `rule`. Where no step is diagonal, none may
// squeeze past a corner: 4-connected maps and those of hexagons always have kNoCornerCutting.
inline SightRule LineRule(Connectivity connectivity, CornerRule rule) {
  return {connectivity == Connectivity::kEight ? rule : CornerRule::kNoCornerCutting,
          LatticeOf(connectivity)};
}

// Returns whether an agent may go straight from the centre of one cell to that of the other: every cell whose
// interior the segment crosses is walkable, and wherever it passes exactly through a point where four cells
// meet it makes a diagonal step there, which the corner rule must allow. Between neighbours that is whether
// the step is legal. Among hexagons, every one that shares a point with the segment must be walkable. The
// result is computed in integers, so it is exact and the same from either end.
//
// It costs O(short side), and less where a cell in the way lies near the end that is looked at first: a row's
// cells (or a column's, if the segment is steep) are looked at 64 at a time.
//
// REQUIRES: both cells are on the map.
bool HasLineOfSight(const WalkGrid& walk, SightRule rule, Cell from, Cell to);

// Returns the cost of going straight from centre to centre: the length of the way inside each cell times the
// cost of a straight step into it, added up. A large agent's cell is that of its position, and a step there
// costs the dearest of the cells below. Among hexagons the length is in units of a step, and a part along an
// edge counts half for each side. The split at cell borders is exact; only the square root and the final
// products are rounded, so that the result is the same on every machine and from either end. Where all cells
// cost the same it is the distance times that cost.
//
// It is not what the same steps cost in a search over cells: there the cell that is entered pays for the
// whole step; here each cell pays for its own part of it, and a diagonal costs the square root of 2 whatever
// the map says.
//
// REQUIRES: both cells are on the map; the line is free for an agent of the footprint of `dearest`.
double LineCost(DearestOnPath& dearest, Cell from, Cell to);

}  // namespace waystar::core
