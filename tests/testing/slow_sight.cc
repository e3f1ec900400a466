#include "tests/testing/slow_sight.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace waystar {
namespace {

// In eighths.
struct Place {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

Place PlaceAt(double x, double y) { return {std::llround(x * 8), std::llround(y * 8)}; }

struct Fraction {
  std::int64_t top = 0;
  // More than 0.
  std::int64_t bottom = 1;

  bool IsAtMost(const Fraction& other) const { return top * other.bottom <= other.top * bottom; }
};

// How far a place is from a line, squared: from the nearer end, or from where the perpendicular meets it.
Fraction SquaredDistance(Place p, Place a, Place b) {
  const Place along{b.x - a.x, b.y - a.y};
  const std::int64_t length = along.x * along.x + along.y * along.y;
  const auto from = [&](Place end) {
    return Fraction{(p.x - end.x) * (p.x - end.x) + (p.y - end.y) * (p.y - end.y), 1};
  };
  const std::int64_t place = along.x * (p.x - a.x) + along.y * (p.y - a.y);
  if (length == 0 || place <= 0) {
    return from(a);
  }
  if (place >= length) {
    return from(b);
  }
  const std::int64_t area = along.x * (p.y - a.y) - along.y * (p.x - a.x);
  return {area * area, length};
}

bool IsOn(Place p, Place a, Place b) { return SquaredDistance(p, a, b).top == 0; }

// Solves a + t (b - a) = c + u (d - c) by Cramer's rule.
bool Meet(Place a, Place b, Place c, Place d) {
  const std::int64_t determinant = (b.x - a.x) * (d.y - c.y) - (b.y - a.y) * (d.x - c.x);
  if (determinant == 0) {
    return IsOn(a, c, d) || IsOn(b, c, d) || IsOn(c, a, b) || IsOn(d, a, b);
  }
  const std::int64_t sign = determinant > 0 ? 1 : -1;
  const std::int64_t t = sign * ((c.x - a.x) * (d.y - c.y) - (c.y - a.y) * (d.x - c.x));
  const std::int64_t u = sign * ((c.x - a.x) * (b.y - a.y) - (c.y - a.y) * (b.x - a.x));
  const std::int64_t one = std::abs(determinant);
  return t >= 0 && t <= one && u >= 0 && u <= one;
}

// By the angles that its edges are seen under, halved: an odd number of turns around.
bool IsInside(Place p, const std::vector<Place>& corners) {
  double turned = 0.0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Place a = corners[i];
    const Place b = corners[(i + 1) % corners.size()];
    const double ax = static_cast<double>(a.x - p.x);
    const double ay = static_cast<double>(a.y - p.y);
    const double bx = static_cast<double>(b.x - p.x);
    const double by = static_cast<double>(b.y - p.y);
    turned += std::atan2(ax * by - ay * bx, ax * bx + ay * by);
  }
  return std::llround(std::abs(turned) / (2 * std::acos(-1.0))) % 2 == 1;
}

bool TouchesPolygon(Place a, Place b, const std::vector<Place>& corners) {
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (Meet(a, b, corners[i], corners[(i + 1) % corners.size()])) {
      return true;
    }
  }
  return IsInside(a, corners);
}

bool TouchesBox(Place a, Place b, double x, double y, double width, double height) {
  return TouchesPolygon(
      a, b, {PlaceAt(x, y), PlaceAt(x + width, y), PlaceAt(x + width, y + height), PlaceAt(x, y + height)});
}

bool TouchesLine(Place a, Place b, const core::Line& line) {
  const Place c = PlaceAt(line.start.x, line.start.y);
  const Place d = PlaceAt(line.end.x, line.end.y);
  const std::int64_t width = std::llround(line.width * 8);
  const Fraction limit{width * width, 4};
  return Meet(a, b, c, d) || SquaredDistance(a, c, d).IsAtMost(limit) ||
         SquaredDistance(b, c, d).IsAtMost(limit) || SquaredDistance(c, a, b).IsAtMost(limit) ||
         SquaredDistance(d, a, b).IsAtMost(limit);
}

}  // namespace

bool SlowlyTouches(const core::WorldPoint& from, const core::WorldPoint& to, const core::Shape& shape) {
  const Place a = PlaceAt(from.x, from.y);
  const Place b = PlaceAt(to.x, to.y);
  const auto touches_disc = [&](const core::Disc& disc) {
    const std::int64_t radius = std::llround(disc.radius * 8);
    return SquaredDistance(PlaceAt(disc.center.x, disc.center.y), a, b).IsAtMost({radius * radius, 1});
  };
  const auto touches_polygon = [&](const core::Polygon& polygon) {
    std::vector<Place> corners;
    for (const core::Point& vertex : polygon.vertices) {
      corners.push_back(PlaceAt(vertex.x, vertex.y));
    }
    return TouchesPolygon(a, b, corners);
  };
  return std::any_of(shape.cells.begin(), shape.cells.end(),
                     [&](core::Cell cell) { return TouchesBox(a, b, cell.x, cell.y, 1, 1); }) ||
         std::any_of(
             shape.rectangles.begin(), shape.rectangles.end(),
             [&](const core::Rectangle& r) { return TouchesBox(a, b, r.x, r.y, r.width, r.height); }) ||
         std::any_of(shape.discs.begin(), shape.discs.end(), touches_disc) ||
         std::any_of(shape.polygons.begin(), shape.polygons.end(), touches_polygon) ||
         std::any_of(shape.lines.begin(), shape.lines.end(),
                     [&](const core::Line& line) { return TouchesLine(a, b, line); });
}

}  // namespace waystar
