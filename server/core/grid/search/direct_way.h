// Direct paths between two cells, as jumps make them.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/cells/bit_scan.h"
#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the cell where the diagonal run from `from` towards `to` turns into the straight run; may be either
// end.
inline Cell TurnTowards(Cell from, Cell to) {
  const int dx = to.x - from.x;
  const int dy = to.y - from.y;
  const int diagonal = std::min(std::abs(dx), std::abs(dy));
  return {from.x + diagonal * Sign(dx), from.y + diagonal * Sign(dy)};
}

// As above, for the direct path of that connectivity.
// REQUIRES: it is not kSix.
inline Cell TurnTowards(Connectivity connectivity, Cell from, Cell to) {
  return connectivity == Connectivity::kFour ? Cell{to.x, from.y} : TurnTowards(from, to);
}

// Returns true if every cell of a row or column from `from` to `to`, both included, is set.
inline bool IsRun(const Word* row, int from, int to) {
  return AreSet(row, std::min(from, to), std::max(from, to));
}

// Returns true if the diagonal step from `from` to the cell step_x to the right and step_y down is legal.
// REQUIRES: `from` is walkable.
inline bool MayStepDiagonally(const WalkGrid& walk, CornerRule rule, Cell from, int step_x, int step_y) {
  const Word* row = walk.Row(from.y + step_y);
  return TestBit(row, from.x + step_x) &&
         MayPassCorner(rule, TestBit(walk.Row(from.y), from.x + step_x), TestBit(row, from.x));
}

// Returns true if a diagonal run followed by a straight run connects the cells by legal steps; on a
// 4-connected map, a horizontal run followed by a vertical one. No path is then cheaper.
// REQUIRES: both cells are walkable.
inline bool IsDirect(const WalkGrid& walk, Connectivity connectivity, CornerRule rule, Cell from, Cell to) {
  if (connectivity == Connectivity::kFour) {
    return IsRun(walk.Row(from.y), from.x, to.x) && IsRun(walk.Column(to.x), from.y, to.y);
  }
  const int step_x = Sign(to.x - from.x);
  const int step_y = Sign(to.y - from.y);
  while (from.x != to.x && from.y != to.y) {
    if (!MayStepDiagonally(walk, rule, from, step_x, step_y)) {
      return false;
    }
    from = {from.x + step_x, from.y + step_y};
  }
  return from.y == to.y ? IsRun(walk.Row(from.y), from.x, to.x) : IsRun(walk.Column(from.x), from.y, to.y);
}

// IsDirect limited to diagonals of at most kLongest steps, because the diagonal is checked step by step.
inline bool IsDirectAndNear(const WalkGrid& walk, Connectivity connectivity, CornerRule rule, Cell from,
                            Cell to) {
  constexpr int kLongest = 512;
  return std::min(std::abs(to.x - from.x), std::abs(to.y - from.y)) <= kLongest &&
         IsDirect(walk, connectivity, rule, from, to);
}

}  // namespace waystar::core
