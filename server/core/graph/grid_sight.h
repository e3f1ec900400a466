// Straight lines over the cells of a grid, for graphs that are connected by sight.
#pragma once

#include <cstddef>
#include <utility>

#include "server/core/graph/sight_line.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// The walkable cells of a grid as they were once. Cell (x, y) is the square from `origin` + `cell_size` (x,
// y) on, in the units of the world.
//
// Thread safety: immutable.
class GridSight {
 public:
  explicit GridSight(BitPlane walkable, Point origin = {}, double cell_size = 1.0)
      : walkable_(std::move(walkable)), origin_(origin), cell_size_(cell_size) {}

  // Whether a line lies on the grid and touches no cell that is not walkable, not even at a corner. Costs in
  // proportion to the rows that it passes.
  bool IsFree(const WorldPoint& a, const WorldPoint& b) const;

  // Whether the cell that holds a position is walkable; false off the grid.
  bool IsWalkableAt(const WorldPoint& position) const;

  std::size_t memory_bytes() const { return walkable_.memory_bytes(); }

 private:
  FixedPoint InCells(const WorldPoint& point) const {
    return ToFixed(Point{(point.x - origin_.x) / cell_size_, (point.y - origin_.y) / cell_size_});
  }

  BitPlane walkable_;
  Point origin_;
  double cell_size_;
};

}  // namespace waystar::core
