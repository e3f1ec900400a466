// Pruning rules for weighted grids: the steps that a cheapest path may take next, decided from nine cells.
#pragma once

#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/neighbourhood.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the steps that the canonical path may take out of a cell that it entered in direction `arrival`.
//
// The canonical path between two cells has the least cost; among those, the fewest steps, then the fewest
// diagonal steps, then the earliest diagonal steps. Replacing a part of a path by an earlier one in this
// order makes the whole path earlier. A step is therefore pruned if the previous cell, this cell and the next
// form a path for which the nine cells contain an earlier one. Where all costs are equal, the result is the
// natural neighbours of jump point search. Source: Carlson, Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal
// Pathfinding on Weighted Grid Maps" (2023).
//
// REQUIRES: the map is 8-connected.
// REQUIRES: the centre and the previous cell are walkable, and the step between them is legal.
DirectionSet CanonicalSteps(const Neighbourhood& around, const StepCosts& costs, CornerRule rule,
                            Direction arrival);
// As above, for cells with costs of their own.
DirectionSet CanonicalSteps(const NearbyCosts& costs, CornerRule rule, Direction arrival);

// Returns the canonical steps among cells of one cost: straight on and, after a diagonal step, its two
// straight components.
constexpr DirectionSet NaturalSteps(Direction arrival) {
  const DirectionSet ahead = SetOf(arrival);
  return IsDiagonal(arrival)
             ? static_cast<DirectionSet>(ahead | SetOf(Turned(arrival, 1)) | SetOf(Turned(arrival, 7)))
             : ahead;
}

}  // namespace waystar::core
