// Exact geometry of points seen from above.
#pragma once

#include "server/core/graph/world_point.h"
#include "server/core/shape/wide_integer.h"

namespace waystar::core {

// Returns a number above 0 if `p` lies to the left of the line from a to b, below 0 if it lies to the right,
// and 0 if it lies on the line. The number is twice the area of the triangle.
inline Int128 SideOf(const FixedPoint& a, const FixedPoint& b, const FixedPoint& p) {
  return Int128{b.x - a.x} * (p.y - a.y) - Int128{b.y - a.y} * (p.x - a.x);
}

}  // namespace waystar::core
