// Exact integer tests of what a straight line in the plane touches, also on the cells of a grid.
//
// Shapes are areas of the plane that include their edges and corners: a line that only touches a shape is
// blocked by it. Coordinates are those of the world: cell (x, y) and rectangles begin at (x, y), the cell
// ends at (x + 1, y + 1), and a line includes the points at most half its width away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "server/core/grid/cells/bit_plane.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct Segment {
  FixedPoint a;
  FixedPoint b;
};

// Area of the plane, including its edges, in units of 2^-20.
struct FixedBox {
  std::int64_t x_low = 0;
  std::int64_t y_low = 0;
  std::int64_t x_high = 0;
  std::int64_t y_high = 0;
};

bool Touches(const Segment& segment, const FixedBox& box);
bool Touches(const Segment& segment, const Segment& other);
bool Touches(const Segment& segment, const Disc& disc);
// Takes O(vertices).
bool Touches(const Segment& segment, const Polygon& polygon);
bool Touches(const Segment& segment, const Line& line);

// Parts of a shape are numbered: cells, then rectangles, discs, polygons and lines.
inline std::size_t PartCount(const Shape& shape) {
  return shape.cells.size() + shape.rectangles.size() + shape.discs.size() + shape.polygons.size() +
         shape.lines.size();
}
bool TouchesPart(const Segment& segment, const Shape& shape, std::size_t part);
// Returns true if the segment touches any part.
bool Touches(const Segment& segment, const Shape& shape);
// Returns the smallest box around a part, up to rounding.
FixedBox BoxOfPart(const Shape& shape, std::size_t part);

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
