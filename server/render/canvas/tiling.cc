#include "server/render/canvas/tiling.h"

#include <algorithm>
#include <cstdlib>

namespace waystar::picture {

Point Tiling::PlaneAt(Point point) const {
  const Point way = point - zero;
  const double area = x_step.x * y_step.y - x_step.y * y_step.x;
  return {(way.x * y_step.y - way.y * y_step.x) / area, (x_step.x * way.y - x_step.y * way.x) / area};
}

std::vector<Point> Tiling::BentLine(int from_x, int from_y, int to_x, int to_y) const {
  const int dx = to_x - from_x;
  const int dy = to_y - from_y;
  const int diagonal = std::min(std::abs(dx), std::abs(dy));
  std::vector<Point> line = {At(from_x, from_y)};
  if (diagonal > 0 && std::abs(dx) != std::abs(dy)) {
    line.push_back(At(from_x + (dx > 0 ? diagonal : -diagonal), from_y + (dy > 0 ? diagonal : -diagonal)));
  }
  line.push_back(At(to_x, to_y));
  return line;
}

Polygon Tiling::OutlineOf(double x, double y, double inset) const {
  const Point center = At(x, y);
  Polygon corners;
  if (hexagons) {
    const Point a = x_step;
    const Point b = y_step;
    const Point neighbours[] = {a, b, b - a, a * -1, b * -1, a - b};
    for (int i = 0; i < 6; ++i) {
      corners.push_back((neighbours[i] + neighbours[(i + 1) % 6]) * (1.0 / 3));
    }
  } else {
    const Point half_x = x_step * 0.5;
    const Point half_y = y_step * 0.5;
    corners = {half_x * -1 - half_y, half_x - half_y, half_x + half_y, half_y - half_x};
  }
  const double shrink = std::max(0.0, 1.0 - 2 * inset / CellPixels());
  for (Point& corner : corners) {
    corner = center + corner * shrink;
  }
  return corners;
}

}  // namespace waystar::picture
