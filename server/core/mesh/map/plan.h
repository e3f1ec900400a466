// Exact geometry of points seen from above.
#pragma once

#include <cmath>

#include "server/geometry/wide_integer.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Returns twice the signed area of the triangle: positive if `p` is on the left of the line from a to b,
// negative if on the right, and 0 if on the line.
inline Int128 SideOf(const FixedPoint& a, const FixedPoint& b, const FixedPoint& p) {
  return Int128{b.x - a.x} * (p.y - a.y) - Int128{b.y - a.y} * (p.x - a.x);
}

// Side in integers. Rarely needed; kept out of the fast path.
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

}  // namespace waystar::core
