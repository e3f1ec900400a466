// Ways between two cells that consist of a diagonal and then a straight run.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/bit_row.h"
#include "server/core/grid/bit_scan.h"
#include "server/core/grid/cell.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Returns where the diagonal from `from` towards `to` turns into the straight run, which may be an end.
inline Cell TurnTowards(Cell from, Cell to) {
  const int dx = to.x - from.x;
  const int dy = to.y - from.y;
  const int diagonal = std::min(std::abs(dx), std::abs(dy));
  return {from.x + diagonal * Sign(dx), from.y + diagonal * Sign(dy)};
}

// Returns whether all steps of the way are legal under CornerRule::kNoCornerCutting: then no way is cheaper.
// REQUIRES: both cells are walkable.
inline bool IsOpen(const WalkGrid& walk, Cell from, Cell to) {
  const int step_x = Sign(to.x - from.x);
  const int step_y = Sign(to.y - from.y);
  while (from.x != to.x && from.y != to.y) {
    if (!TestBit(walk.Row(from.y), from.x + step_x)) {
      return false;
    }
    from.y += step_y;
    const Word* row = walk.Row(from.y);
    if (!TestBit(row, from.x) || !TestBit(row, from.x + step_x)) {
      return false;
    }
    from.x += step_x;
  }
  if (from.y == to.y) {
    return FirstClear(walk.Row(from.y), std::min(from.x, to.x)) > std::max(from.x, to.x);
  }
  return FirstClear(walk.Column(from.x), std::min(from.y, to.y)) > std::max(from.y, to.y);
}

}  // namespace waystar::core
