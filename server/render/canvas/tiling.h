// Tiling: places of a plane's cells on a picture, for squares or hexagons in axial coordinates.
#pragma once

#include <vector>

#include "server/render/canvas/geometry.h"

namespace waystar::picture {

// The centre of cell (x, y) lies at zero + x * x_step + y * y_step. Three hexagons meet at each corner, which
// is the mean of their centres, so the orientation of hexagons does not matter.
struct Tiling {
  Point zero;
  Point x_step = {1.0, 0.0};
  Point y_step = {0.0, 1.0};
  bool hexagons = false;

  // Returns the place of a point of the plane, not only of cell centres.
  Point At(double x, double y) const { return zero + x_step * x + y_step * y; }
  // Returns the inverse of At.
  Point PlaneAt(Point point) const;

  // Returns the line from one cell to another, diagonal first and then straight, like jumps on squares.
  std::vector<Point> BentLine(int from_x, int from_y, int to_x, int to_y) const;

  // Returns the outline of a cell, shrunk by `inset` pixels.
  Polygon OutlineOf(double x, double y, double inset = 0.0) const;

  // Returns the distance between adjacent centres in pixels.
  double CellPixels() const { return Distance({}, x_step); }
};

}  // namespace waystar::picture
