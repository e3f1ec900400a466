// Line of sight over the cells of a grid, for graphs that are connected by sight.
#pragma once

#include <cstddef>
#include <utility>

#include "server/core/graph/map/sight_line.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Walkable cells of a grid at one time. Cell (x, y) is the square that begins at `origin` + `cell_size` * (x,
// y), in world units.
//
// Thread safety: immutable.
class GridSight {
 public:
  explicit GridSight(BitPlane walkable, Point origin = {}, double cell_size = 1.0)
      : walkable_(std::move(walkable)), origin_(origin), cell_size_(cell_size) {}

  const BitPlane& walkable() const { return walkable_; }
  Point origin() const { return origin_; }
  double cell_size() const { return cell_size_; }

  // Returns true if a line lies on the grid and touches only walkable cells, including at corners. Cost is
  // proportional to the rows that it crosses.
  bool IsFree(const WorldPoint& a, const WorldPoint& b) const;

  // Returns true if the cell that contains a position is walkable; false outside the grid.
  bool IsWalkableAt(const WorldPoint& position) const;

  // Returns a position in units of 2^-20 of a cell, relative to the corner of cell (0, 0).
  FixedPoint InCells(const WorldPoint& point) const {
    return ToFixed(Point{(point.x - origin_.x) / cell_size_, (point.y - origin_.y) / cell_size_});
  }

  std::size_t memory_bytes() const { return walkable_.memory_bytes(); }

 private:
  BitPlane walkable_;
  Point origin_;
  double cell_size_;
};

}  // namespace waystar::core
