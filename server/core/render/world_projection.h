// Where points of the world lie on a picture.
#pragma once

#include "server/core/graph/world_point.h"
#include "server/picture/geometry.h"
#include "server/picture/tiling.h"

namespace waystar::core {

// The point (x, y, z) lies at zero + x * x_step + y * y_step of the plan, + z * z_step. Seen from above,
// z_step is zero; else a point lies higher up on the picture the higher it is.
struct WorldProjection {
  picture::Tiling plan;
  picture::Point z_step;

  picture::Point At(const WorldPoint& point) const { return plan.At(point.x, point.y) + z_step * point.z; }
  // Returns the plan as it lies at a height.
  picture::Tiling PlanAt(double z) const {
    picture::Tiling tiling = plan;
    tiling.zero = plan.zero + z_step * z;
    return tiling;
  }
};

}  // namespace waystar::core
