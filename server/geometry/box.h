// Axis-aligned boxes in the plane, small sets of boxes, and ranges of heights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/geometry/cell.h"

namespace waystar::core {

// Axis-aligned area of the plane, including its edges. Empty if a high side is less than the low one.
struct Box {
  double x_low = std::numeric_limits<double>::infinity();
  double y_low = std::numeric_limits<double>::infinity();
  double x_high = -std::numeric_limits<double>::infinity();
  double y_high = -std::numeric_limits<double>::infinity();

  static Box Around(double x, double y, double reach) { return {x - reach, y - reach, x + reach, y + reach}; }

  Box And(const Box& other) const {
    return {std::min(x_low, other.x_low), std::min(y_low, other.y_low), std::max(x_high, other.x_high),
            std::max(y_high, other.y_high)};
  }
  bool is_empty() const { return x_low > x_high || y_low > y_high; }
  double HalfPerimeter() const { return x_high - x_low + (y_high - y_low); }
  bool Overlaps(const Box& other) const {
    return x_low <= other.x_high && other.x_low <= x_high && y_low <= other.y_high && other.y_low <= y_high;
  }
  // Returns the squared distance from a point; 0 inside the box.
  double SquaredDistance(double x, double y) const {
    const double dx = std::max({x_low - x, 0.0, x - x_high});
    const double dy = std::max({y_low - y, 0.0, y - y_high});
    return dx * dx + dy * dy;
  }
  double Distance(double x, double y) const { return std::sqrt(SquaredDistance(x, y)); }
  // Returns false only if the segment from a to b certainly does not touch the box.
  bool MayTouch(double ax, double ay, double bx, double by) const {
    if (!Overlaps({std::min(ax, bx), std::min(ay, by), std::max(ax, bx), std::max(ay, by)})) {
      return false;
    }
    // Compares the distances of the box's centre and corners from the line, scaled by the line's length.
    const double dx = bx - ax;
    const double dy = by - ay;
    const double middle = dx * ((y_low + y_high) / 2 - ay) - dy * ((x_low + x_high) / 2 - ax);
    const double reach = std::abs(dx) * (y_high - y_low) / 2 + std::abs(dy) * (x_high - x_low) / 2;
    // Rounding errors are far smaller for coordinates of at most 2^21.
    constexpr double kSlack = 0.1;
    return std::abs(middle) <= reach + kSlack;
  }

  friend bool operator==(const Box&, const Box&) = default;
};

// Returns the rectangle of whole units that the box touches: cell (x, y) is the square from (x, y) to
// (x + 1, y + 1). Empty if the box is.
inline Rectangle UnitsAround(const Box& box) {
  if (box.is_empty()) {
    return {};
  }
  const auto whole = [](double value) { return static_cast<std::int32_t>(std::floor(value)); };
  const std::int32_t x = whole(box.x_low);
  const std::int32_t y = whole(box.y_low);
  return {x, y, whole(box.x_high) - x + 1, whole(box.y_high) - y + 1};
}

// At most kMost boxes that together cover all boxes added. They may cover more once there are too many.
class BoxSet {
 public:
  static constexpr std::size_t kMost = 16;

  // Adds a box, merged into one that it overlaps or, if there are kMost, the nearest. Ignores empty boxes.
  void Add(const Box& box) {
    if (box.is_empty()) {
      return;
    }
    double least = std::numeric_limits<double>::infinity();
    Box* nearest = nullptr;
    for (Box& other : boxes_) {
      if (other.Overlaps(box)) {
        other = other.And(box);
        return;
      }
      const double growth = other.And(box).HalfPerimeter() - other.HalfPerimeter();
      if (growth < least) {
        least = growth;
        nearest = &other;
      }
    }
    if (boxes_.size() < kMost) {
      boxes_.push_back(box);
    } else {
      *nearest = nearest->And(box);
    }
  }
  void Add(const BoxSet& other) {
    for (const Box& box : other.boxes_) {
      Add(box);
    }
  }

  bool empty() const { return boxes_.empty(); }
  const std::vector<Box>& boxes() const { return boxes_; }

  bool Overlaps(const Box& box) const {
    return std::ranges::any_of(boxes_, [&](const Box& other) { return other.Overlaps(box); });
  }
  // Returns true if a part of the set may be at most `reach` from a point.
  bool ComesNear(double x, double y, double reach) const {
    return std::ranges::any_of(boxes_,
                               [&](const Box& box) { return box.SquaredDistance(x, y) <= reach * reach; });
  }

 private:
  std::vector<Box> boxes_;
};

// Heights from `low` to `high`, inclusive.
struct HeightRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool Overlaps(const HeightRange& other) const { return low <= other.high && other.low <= high; }
  bool IsAll() const { return *this == HeightRange(); }

  friend bool operator==(const HeightRange&, const HeightRange&) = default;
};

}  // namespace waystar::core
