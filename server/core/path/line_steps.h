// Iteration over the cells along a straight line of any angle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"

namespace waystar::core {

// Calls visit(from, to) for each step between cells that the segment between two centres makes: straight
// where it crosses an edge, diagonal where it passes exactly through a point where four cells meet. Between
// cells of one row, column or diagonal those are the steps of a path. It goes on while `visit` returns true,
// and returns whether it always did. These are the steps that HasLineOfSight checks, in order and one by one.
template <typename Visitor>
bool ForEachStepOnLine(Cell from, Cell to, Visitor visit) {
  const std::int64_t dx = std::abs(to.x - from.x);
  const std::int64_t dy = std::abs(to.y - from.y);
  const int step_x = Sign(to.x - from.x);
  const int step_y = Sign(to.y - from.y);
  // Places on the segment as integers, chosen so that every crossing of an edge is one.
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
    if (!visit(cell, next)) {
      return false;
    }
    cell = next;
  }
  return true;
}

// Calls visit(cell, part, whole) for the part of the segment between two centres that lies in each cell, in
// order, including parts without length: `part` of `whole`, which is the same for all and the sum of the
// parts. It is exact. It visits nothing if the two cells are one.
template <typename Visitor>
void ForEachPartOfLine(Cell from, Cell to, Visitor visit) {
  const std::int64_t dx = std::abs(to.x - from.x);
  const std::int64_t dy = std::abs(to.y - from.y);
  if (dx == 0 && dy == 0) {
    return;
  }
  // Places on the segment as numbers from 0 to `whole`, chosen so that every crossing of a border is one.
  const std::int64_t per_column = dy == 0 ? 1 : dy;
  const std::int64_t per_row = dx == 0 ? 1 : dx;
  const std::int64_t whole = 2 * per_column * per_row;
  std::int64_t column_border = dx == 0 ? whole : per_column;
  std::int64_t row_border = dy == 0 ? whole : per_row;
  const int step_x = to.x > from.x ? 1 : -1;
  const int step_y = to.y > from.y ? 1 : -1;
  Cell cell = from;
  for (std::int64_t place = 0; place < whole;) {
    const std::int64_t border = std::min(std::min(column_border, row_border), whole);
    visit(cell, border - place, whole);
    place = border;
    if (border == column_border) {
      cell.x += step_x;
      column_border += 2 * per_column;
    }
    if (border == row_border) {
      cell.y += step_y;
      row_border += 2 * per_row;
    }
  }
}

// Returns whether a corner rule allows a diagonal step, given whether the two cells beside it are free.
constexpr bool MayPassCorner(CornerRule rule, bool one_side, bool other_side) {
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return one_side && other_side;
    case CornerRule::kOneSideFree:
      return one_side || other_side;
    case CornerRule::kAlways:
      return true;
  }
  return false;
}

}  // namespace waystar::core
