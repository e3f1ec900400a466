// Exact geometry of points and distances to segments, seen from above.
#pragma once

#include <cmath>
#include <cstddef>

#include "server/geometry/shape.h"
#include "server/geometry/wide_integer.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Returns twice the signed area of the triangle: positive if `p` is on the left of the line from a to b,
// negative if on the right, and 0 if on the line.
inline Int128 SideOf(const FixedPoint& a, const FixedPoint& b, const FixedPoint& p) {
  return Int128{b.x - a.x} * (p.y - a.y) - Int128{b.y - a.y} * (p.x - a.x);
}

// Returns twice the signed area of the polygon with corners at(0) to at(count - 1), as FixedPoints: positive
// if they run counterclockwise.
template <typename At>
Int128 TwiceArea(std::size_t count, const At& at) {
  Int128 area = 0;
  for (std::size_t k = 2; k < count; ++k) {
    area += SideOf(at(0), at(k - 1), at(k));
  }
  return area;
}

// Returns the side of `p` exactly, by integers. Out of line, since callers rarely need it.
[[gnu::noinline, gnu::cold]] inline double SideByIntegers(const WorldPoint& a, const WorldPoint& b,
                                                          const WorldPoint& p) {
  // Most points on a line are one of its ends.
  if ((p.x == a.x && p.y == a.y) || (p.x == b.x && p.y == b.y)) {
    return 0.0;
  }
  return static_cast<double>(SideOf(ToFixed(a), ToFixed(b), ToFixed(p))) / (kFixedScale * kFixedScale);
}

// Returns true if the difference of the two rounded products has the sign of their exact difference.
inline bool IsSideCertain(double left, double right) {
  constexpr double kCancelled = 1.0 / (1 << 18);
  return std::abs(left - right) > (std::abs(left) + std::abs(right)) * kCancelled;
}

// Returns twice the signed area of the triangle, positive if `p` is on the left of the line from a to b. The
// sign is exact, the size is exact to 2^-32.
// REQUIRES: coordinates are multiples of 2^-20.
inline double Side(const WorldPoint& a, const WorldPoint& b, const WorldPoint& p) {
  // Differences are exact.
  const double left = (b.x - a.x) * (p.y - a.y);
  const double right = (b.y - a.y) * (p.x - a.x);
  return IsSideCertain(left, right) ? left - right : SideByIntegers(a, b, p);
}

inline double SquaredPlanDistance(const WorldPoint& a, const WorldPoint& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  return dx * dx + dy * dy;
}
inline double DistanceInPlan(double ax, double ay, double bx, double by) {
  const double dx = bx - ax;
  const double dy = by - ay;
  return std::sqrt(dx * dx + dy * dy);
}
inline double DistanceInPlan(const WorldPoint& a, const WorldPoint& b) {
  return DistanceInPlan(a.x, a.y, b.x, b.y);
}

struct SegmentPoint {
  // Fraction from 0 at the start of the segment to 1 at its end.
  double share = 0.0;
  Point point;
  double squared_distance = 0.0;
};

// Returns the point between two shares of the segment from a to b that is nearest to p.
// REQUIRES: a and b differ; 0 <= low <= high <= 1.
inline SegmentPoint NearestOnPlanSegment(const WorldPoint& a, const WorldPoint& b, const WorldPoint& p,
                                         double low = 0.0, double high = 1.0) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  const double along = (p.x - a.x) * dx + (p.y - a.y) * dy;
  const double share = along <= low * squared ? low : along >= high * squared ? high : along / squared;
  // Returns an end of the segment exactly.
  const Point point = share == 1.0 ? Point{b.x, b.y} : Point{a.x + share * dx, a.y + share * dy};
  const double off_x = p.x - point.x;
  const double off_y = p.y - point.y;
  return {share, point, off_x * off_x + off_y * off_y};
}

}  // namespace waystar::core
