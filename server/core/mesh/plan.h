// Exact geometry of points seen from above.
#pragma once

#include <cmath>

#include "server/core/graph/world_point.h"
#include "server/core/shape/wide_integer.h"

namespace waystar::core {

// Returns a number above 0 if `p` lies to the left of the line from a to b, below 0 if it lies to the right,
// and 0 if it lies on the line. The number is twice the area of the triangle.
inline Int128 SideOf(const FixedPoint& a, const FixedPoint& b, const FixedPoint& p) {
  return Int128{b.x - a.x} * (p.y - a.y) - Int128{b.y - a.y} * (p.x - a.x);
}

// As Side, by integers. It is seldom needed, and not to be in the way of what is.
[[gnu::noinline, gnu::cold]] inline double SideByIntegers(const WorldPoint& a, const WorldPoint& b,
                                                          const WorldPoint& p) {
  // Most points on a line are an end of it.
  if ((p.x == a.x && p.y == a.y) || (p.x == b.x && p.y == b.y)) {
    return 0.0;
  }
  return static_cast<double>(SideOf(ToFixed(a), ToFixed(b), ToFixed(p))) / (kFixedScale * kFixedScale);
}

// Returns whether the difference of these two products, of exact factors, has the sign of their exact
// difference.
inline bool IsSideCertain(double left, double right) {
  constexpr double kCancelled = 1.0 / (1 << 18);
  return std::abs(left - right) > (std::abs(left) + std::abs(right)) * kCancelled;
}

// Returns twice the area of the triangle, which is above 0 if `p` lies to the left of the line from a to b.
// Its sign is exact, and its size to 2^-32. Whatever calls this must be compiled with -ffp-contract=off.
// REQUIRES: coordinates are multiples of 2^-20.
inline double Side(const WorldPoint& a, const WorldPoint& b, const WorldPoint& p) {
  // Differences are exact.
  const double left = (b.x - a.x) * (p.y - a.y);
  const double right = (b.y - a.y) * (p.x - a.x);
  return IsSideCertain(left, right) ? left - right : SideByIntegers(a, b, p);
}

}  // namespace waystar::core
