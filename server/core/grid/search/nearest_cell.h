// Nearest cell to the goal that a search has visited.
#pragma once

#include <cstdint>
#include <limits>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/cells/lattice.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Tracks the cell nearest to the goal in a straight line; among equals, the one that is cheaper to reach,
// then the first in row-major order. Initially the start.
class NearestCell {
 public:
  NearestCell(Cell start, Cell goal, Lattice lattice = Lattice::kSquare)
      : lattice_(lattice), goal_(goal), cell_(start) {}

  void Consider(Cell cell, Cost g) {
    const std::int64_t distance = SquaredDistance(lattice_, cell, goal_);
    if (distance > distance_ ||
        (distance == distance_ && (g > g_ || (g == g_ && !RowMajorLess(cell, cell_))))) {
      return;
    }
    cell_ = cell;
    distance_ = distance;
    g_ = g;
  }

  Cell cell() const { return cell_; }
  // Returns the cost of the path to the cell.
  Cost cost() const { return g_; }

 private:
  Lattice lattice_;
  Cell goal_;
  Cell cell_;
  std::int64_t distance_ = std::numeric_limits<std::int64_t>::max();
  Cost g_ = 0;
};

}  // namespace waystar::core
