// Slow test of what straight lines touch: the judge of server/core/graph/map/sight_line.h.
#pragma once

#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar {

// Whether the straight line from a to b, seen from above, touches a shape, taken as an area of the plane.
// REQUIRES: all coordinates, radii and widths are multiples of 1/8 and less than 1000.
bool SlowlyTouches(const core::WorldPoint& a, const core::WorldPoint& b, const core::Shape& shape);

}  // namespace waystar
