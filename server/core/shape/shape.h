// Shapes: sets of cells given by their outline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cell.h"

namespace waystar::core {

// A point among cells. The centre of cell (x, y) is the point (x, y).
struct Point {
  double x = 0.0;
  double y = 0.0;

  friend bool operator==(const Point&, const Point&) = default;
};

// How much further a distance reaches along a coordinate among hexagons: sqrt(4/3), rounded up.
inline constexpr double kHexReach = 1.1547005383792517;

// The cells whose centre is at most `radius` from `center`, in units of the distance of cells that share a
// side.
struct Disc {
  Point center;
  // The radius in cells, from 0 to kMaxReach.
  double radius = 0.0;

  friend bool operator==(const Disc&, const Disc&) = default;
};

// The cells whose centre lies inside by the even-odd rule, or on an edge. The polygon is closed.
struct Polygon {
  // There are 3 to kMaxVertices vertices, not all on one line.
  std::vector<Point> vertices;

  friend bool operator==(const Polygon&, const Polygon&) = default;
};

// The cells that the straight line from `start` to `end` passes through, without those it only touches, and
// the cells whose centre is at most half of `width` from it. Where the line goes through the corner between
// four cells, it also takes the lower of the two that it only touches, so that no corner rule lets an agent
// through a line; lines that meet in such a corner may leave a gap there. Along the edge between two cells it
// takes the cell below or to the right. A line without length takes the cell that the point lies in. Among
// hexagons a line takes every cell that it shares a point with, including those that it only touches.
struct Line {
  Point start;
  Point end;
  // The width in cells, from 0 to kMaxReach.
  double width = 0.0;

  friend bool operator==(const Line&, const Line&) = default;
};

// The cells that lie in any part of the shape.
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

// The coordinates of points are from -kMaxReach to kMaxReach.
inline constexpr double kMaxReach = 1 << 20;
inline constexpr int kMaxVertices = 1000;

}  // namespace waystar::core
