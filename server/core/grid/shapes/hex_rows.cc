// Compiled without contraction of floating-point operations: see shape_raster.h.
#include "server/core/grid/shapes/hex_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace waystar::core {
namespace {

const double kRowHeight = std::sqrt(0.75);

// Converts to Cartesian coordinates, in units of a step.
Point Upright(const Point& axial) { return {axial.x + axial.y / 2, axial.y * kRowHeight}; }

HexLine::Place PlaceOf(const Point& point) {
  const FixedPoint fixed = ToFixed(point);
  return {fixed.x, fixed.y};
}

// Interval that grows to contain x.
struct Reach {
  double left = std::numeric_limits<double>::infinity();
  double right = -std::numeric_limits<double>::infinity();

  void Add(double x) {
    left = std::min(left, x);
    right = std::max(right, x);
  }
};

// Adds the points where the row at height y intersects the disc's boundary.
void AddDisc(const Point& center, double radius, double y, Reach& reach) {
  const double dy = y - center.y;
  if (const double squared = radius * radius - dy * dy; squared >= 0.0) {
    reach.Add(center.x - std::sqrt(squared));
    reach.Add(center.x + std::sqrt(squared));
  }
}

void AddSide(const Point& a, const Point& b, double y, Reach& reach) {
  if (std::min(a.y, b.y) <= y && y <= std::max(a.y, b.y) && a.y != b.y) {
    reach.Add(a.x + (b.x - a.x) * ((y - a.y) / (b.y - a.y)));
  }
}

}  // namespace

HexLineRows::HexLineRows(const Line& line)
    : line_(line), thin_(PlaceOf(line.start), PlaceOf(line.end), kUnitsPerCell) {
  const double reach = line.width / 2 * kHexReach;
  const double top = std::min(line.start.y, line.end.y) - reach;
  const double bottom = std::max(line.start.y, line.end.y) + reach;
  rows_ = {std::min(thin_.first_row(), static_cast<std::int32_t>(std::floor(top))),
           std::max(thin_.last_row(), static_cast<std::int32_t>(std::ceil(bottom))) + 1};
}

Interval HexLineRows::Row(std::int32_t y) const {
  const Interval thin = ThinRow(y);
  const Interval wide = WideRow(y);
  if (thin.empty() || wide.empty()) {
    return thin.empty() ? wide : thin;
  }
  return {std::min(thin.begin, wide.begin), std::max(thin.end, wide.end)};
}

Interval HexLineRows::ThinRow(std::int32_t y) const {
  if (y < thin_.first_row() || y > thin_.last_row()) {
    return {};
  }
  const HexLine::Run run = thin_.InRow(y);
  return {run.first, run.last + 1};
}

Interval HexLineRows::WideRow(std::int32_t y) const {
  const double half = line_.width / 2;
  const Point start = Upright(line_.start);
  const Point end = Upright(line_.end);
  const double height = y * kRowHeight;
  Reach reach;
  AddDisc(start, half, height, reach);
  AddDisc(end, half, height, reach);
  if (const double length = std::hypot(end.x - start.x, end.y - start.y); length > 0.0) {
    const double aside_x = -(end.y - start.y) / length * half;
    const double aside_y = (end.x - start.x) / length * half;
    const Point corners[] = {{start.x + aside_x, start.y + aside_y},
                             {end.x + aside_x, end.y + aside_y},
                             {end.x - aside_x, end.y - aside_y},
                             {start.x - aside_x, start.y - aside_y}};
    for (std::size_t i = 0; i < 4; ++i) {
      AddSide(corners[i], corners[(i + 1) % 4], height, reach);
    }
  }
  if (reach.left > reach.right) {
    return {};
  }
  // Tolerance for rounding.
  constexpr double kSlack = 1e-9;
  const double shift = static_cast<double>(y) / 2;
  return {static_cast<std::int32_t>(std::ceil(reach.left - shift - kSlack)),
          static_cast<std::int32_t>(std::floor(reach.right - shift + kSlack)) + 1};
}

}  // namespace waystar::core
