// A tiling: where the cells of a plane, squares or hexagons by axial coordinates, lie on a picture.
#pragma once

#include <vector>

#include "server/picture/geometry.h"

namespace waystar::picture {

// The centre of cell (x, y) lies at zero + x * x_step + y * y_step. Hexagons meet in threes: each corner is
// the middle of the centres around it, so that it does not matter which way they are turned.
struct Tiling {
  Point zero;
  Point x_step = {1.0, 0.0};
  Point y_step = {0.0, 1.0};
  bool hexagons = false;

  // Returns the place of a point of the plane, also between the centres of cells.
  Point At(double x, double y) const { return zero + x_step * x + y_step * y; }
  // Returns the inverse of At.
  Point PlaneAt(Point point) const;

  // Returns the line from one cell to another along a diagonal and then straight, as jumps among squares go.
  std::vector<Point> BentLine(int from_x, int from_y, int to_x, int to_y) const;

  // Returns the outline of a cell, a little smaller if `inset`, in pixels, is more than 0.
  Polygon OutlineOf(double x, double y, double inset = 0.0) const;

  // Returns the distance between the centres of neighbours.
  double CellPixels() const { return Distance({}, x_step); }
};

}  // namespace waystar::picture
