// Distances to segments seen from above, in double precision.
#pragma once

#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

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
