// Direct ways between two cells: those that jumps make.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/bit_scan.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Returns where the diagonal from `from` towards `to` turns into the straight run, which may be an end.
inline Cell TurnTowards(Cell from, Cell to) {
  const int dx = to.x - from.x;
  const int dy = to.y - from.y;
  const int diagonal = std::min(std::abs(dx), std::abs(dy));
  return {from.x + diagonal * Sign(dx), from.y + diagonal * Sign(dy)};
}

// As above for direct ways by that connectivity. REQUIRES: it is not kSix.
inline Cell TurnTowards(Connectivity connectivity, Cell from, Cell to) {
  return connectivity == Connectivity::kFour ? Cell{to.x, from.y} : TurnTowards(from, to);
}

// Returns whether every cell from `from` to `to`, both included, of a row or of a column is set.
inline bool IsRun(const Word* row, int from, int to) {
  return AreSet(row, std::min(from, to), std::max(from, to));
}

// Returns whether the diagonal step from `from` to a cell step_x to the right and step_y down is legal.
// REQUIRES: `from` is free.
inline bool MayStepDiagonally(const WalkGrid& walk, CornerRule rule, Cell from, int step_x, int step_y) {
  const Word* row = walk.Row(from.y + step_y);
  return TestBit(row, from.x + step_x) &&
         MayPassCorner(rule, TestBit(walk.Row(from.y), from.x + step_x), TestBit(row, from.x));
}

// Returns whether a diagonal and then a straight run lead from one cell to the other by legal steps; on a
// 4-connected map a horizontal run and then a vertical one. If so, no way is cheaper. REQUIRES: both are
// free.
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

// As IsDirect, but false as well where the diagonal is long: it is followed step by step.
inline bool IsDirectAndNear(const WalkGrid& walk, Connectivity connectivity, CornerRule rule, Cell from,
                            Cell to) {
  constexpr int kLongest = 512;
  return std::min(std::abs(to.x - from.x), std::abs(to.y - from.y)) <= kLongest &&
         IsDirect(walk, connectivity, rule, from, to);
}

}  // namespace waystar::core
