// Projection of world points to a picture.
#pragma once

#include "server/geometry/world_point.h"
#include "server/render/canvas/geometry.h"
#include "server/render/canvas/tiling.h"

namespace waystar::core {

// Projects (x, y, z) to zero + x * x_step + y * y_step of the plan, + z * z_step. z_step is zero for a view
// from above; otherwise higher points lie further up in the picture.
struct WorldProjection {
  picture::Tiling plan;
  picture::Point z_step;

  picture::Point At(const WorldPoint& point) const { return plan.At(point.x, point.y) + z_step * point.z; }
  // Returns the tiling of the plan at a height.
  picture::Tiling PlanAt(double z) const {
    picture::Tiling tiling = plan;
    tiling.zero = plan.zero + z_step * z;
    return tiling;
  }
};

}  // namespace waystar::core
