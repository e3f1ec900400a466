// Where a search ends that does not reach its goal.
#pragma once

#include <cstdint>
#include <limits>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"

namespace waystar::core {

// Of the cells it is shown the one nearest to the goal in a straight line; among equals the one cheaper to
// reach, then the first in row-major order. The start if it is shown none.
class NearestCell {
 public:
  NearestCell(Cell start, Cell goal) : goal_(goal), cell_(start) {}

  void Consider(Cell cell, Cost g) {
    const std::int64_t dx = cell.x - goal_.x;
    const std::int64_t dy = cell.y - goal_.y;
    const std::int64_t distance = dx * dx + dy * dy;
    if (distance > distance_ ||
        (distance == distance_ && (g > g_ || (g == g_ && !RowMajorLess(cell, cell_))))) {
      return;
    }
    cell_ = cell;
    distance_ = distance;
    g_ = g;
  }

  Cell cell() const { return cell_; }
  // Of the way to it.
  Cost cost() const { return g_; }

 private:
  Cell goal_;
  Cell cell_;
  std::int64_t distance_ = std::numeric_limits<std::int64_t>::max();
  Cost g_ = 0;
};

}  // namespace waystar::core
