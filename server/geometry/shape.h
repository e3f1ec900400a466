// Shapes: sets of cells described by geometry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/geometry/cell.h"

namespace waystar::core {

// Point among cells. The centre of cell (x, y) is the point (x, y).
struct Point {
  double x = 0.0;
  double y = 0.0;

  friend bool operator==(const Point&, const Point&) = default;
};

// Ratio by which a distance extends further along a coordinate among hexagons: sqrt(4/3), rounded up.
inline constexpr double kHexReach = 1.1547005383792517;

// Cells whose centre is at most `radius` from `center`, in units of the distance between two adjacent cells.
struct Disc {
  Point center;
  // Radius in cells, from 0 to kMaxReach.
  double radius = 0.0;

  friend bool operator==(const Disc&, const Disc&) = default;
};

// Cells whose centre is inside by the even-odd rule, or on an edge. The polygon is closed.
struct Polygon {
  // 3 to kMaxVertices vertices, not all on one line.
  std::vector<Point> vertices;

  friend bool operator==(const Polygon&, const Polygon&) = default;
};

// Cells that the straight line from `start` to `end` passes through, excluding those only touched, and cells
// whose centre is at most `width` / 2 from it. Where the line passes through the corner between four cells,
// it also includes the lower of the two that it only touches, so that no corner rule lets an agent through a
// line. Lines that meet in such a corner may leave a gap there. Along the edge between two cells the line
// includes the cell below or to the right. A line without length includes the cell that contains the point.
// Among hexagons a line includes every cell that shares a point with it.
struct Line {
  Point start;
  Point end;
  // Width in cells, from 0 to kMaxReach.
  double width = 0.0;

  friend bool operator==(const Line&, const Line&) = default;
};

// Union of the cells of all parts.
struct Shape {
  std::vector<Cell> cells;
  std::vector<Rectangle> rectangles;
  std::vector<Disc> discs;
  std::vector<Polygon> polygons;
  std::vector<Line> lines;

  bool empty() const {
    return cells.empty() && rectangles.empty() && discs.empty() && polygons.empty() && lines.empty();
  }

  friend bool operator==(const Shape&, const Shape&) = default;
};

// Returns the bytes that the parts of a shape hold besides the struct itself.
inline std::size_t BytesOf(const Shape& shape) {
  std::size_t bytes = shape.cells.capacity() * sizeof(Cell) +
                      shape.rectangles.capacity() * sizeof(Rectangle) +
                      shape.discs.capacity() * sizeof(Disc) + shape.polygons.capacity() * sizeof(Polygon) +
                      shape.lines.capacity() * sizeof(Line);
  for (const Polygon& polygon : shape.polygons) {
    bytes += polygon.vertices.capacity() * sizeof(Point);
  }
  return bytes;
}

// Maximum absolute value of the coordinates of points.
inline constexpr double kMaxReach = 1 << 20;
inline constexpr int kMaxVertices = 1000;

}  // namespace waystar::core
