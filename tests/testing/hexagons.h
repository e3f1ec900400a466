// Slow and obvious geometry of hexagons, one step wide, by axial coordinates.
#pragma once

#include <algorithm>
#include <cmath>

#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar {

// Whether the segment enters or touches the hexagon, when its sides are moved out by `slack`: cuts the
// segment at each of them.
inline bool HasPointOf(core::Cell hexagon, const core::Point& from, const core::Point& to, double slack) {
  constexpr int kNormals[3][2] = {{2, 1}, {1, 2}, {1, -1}};
  const double side = 1.0 + slack;
  double entry = 0.0;
  double exit = 1.0;
  for (const auto& normal : kNormals) {
    const double begin = normal[0] * (from.x - hexagon.x) + normal[1] * (from.y - hexagon.y);
    const double along = normal[0] * (to.x - from.x) + normal[1] * (to.y - from.y);
    if (along == 0.0) {
      if (std::abs(begin) > side) {
        return false;
      }
      continue;
    }
    entry = std::max(entry, std::min((-side - begin) / along, (side - begin) / along));
    exit = std::min(exit, std::max((-side - begin) / along, (side - begin) / along));
  }
  return entry <= exit;
}

}  // namespace waystar
