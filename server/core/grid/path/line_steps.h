// Iteration over the cells on a straight line of any angle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "server/core/grid/cells/corner_rule.h"
#include "server/geometry/cell.h"

namespace waystar::core {

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

// Calls visit(from, to) for these steps. Between cells of one row, column or diagonal they are the steps of a
// path. They are the steps that HasLineOfSight checks, one by one.
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

}  // namespace waystar::core
