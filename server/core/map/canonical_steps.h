// Pruning rules for weighted grids: the steps a cheapest path may take next, judged by nine cells.
#pragma once

#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/neighbourhood.h"

namespace waystar::core {

// Returns the steps that the canonical path may take out of a cell that it has entered in direction
// `arrival`.
//
// Canonical among the paths between two cells is one of least cost; among those, of fewest steps, then of
// fewest diagonal ones, then the one whose diagonal steps come earliest. Replacing a part of a path by one
// that comes earlier in this order makes the whole path come earlier. So a step may be left out if the cell
// before, this cell and the next make up a path for which the nine cells hold an earlier one: no canonical
// path takes it. Where costs are alike that leaves the natural neighbours of jump point search. Carlson,
// Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal Pathfinding on Weighted Grid Maps" (2023).
//
// REQUIRES: 8-connected; the centre is walkable, as is the cell before, and the step between them is legal.
DirectionSet CanonicalSteps(const Neighbourhood& around, const StepCosts& costs, CornerRule rule,
                            Direction arrival);
// As above, where cells have costs of their own.
DirectionSet CanonicalSteps(const NearbyCosts& costs, CornerRule rule, Direction arrival);

// Returns the steps amid cells of one cost: straight on, and after a diagonal one its straight parts.
constexpr DirectionSet NaturalSteps(Direction arrival) {
  const DirectionSet ahead = SetOf(arrival);
  return IsDiagonal(arrival)
             ? static_cast<DirectionSet>(ahead | SetOf(Turned(arrival, 1)) | SetOf(Turned(arrival, 7)))
             : ahead;
}

}  // namespace waystar::core
