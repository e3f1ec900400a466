// World coordinates in pictures: the part shown, and its scale.
#pragma once

#include "server/geometry/box.h"
#include "server/geometry/cell.h"
#include "server/geometry/world_point.h"
#include "server/render/canvas/geometry.h"
#include "server/render/canvas/marks.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// Returns the box with a proportional margin and sides at round numbers: whole units around a box of ten
// units or more, thousandths around one of 0.02. A point gets an area of a few units. Returns the unit square
// if the box is empty.
Box WithMargin(const Box& box);

// Returns the smallest rectangle of whole units around the area.
// REQUIRES: the rectangle's numbers fit into 32 bits.
Rectangle WholeUnits(const Box& area);

// Returns the view of an area of the world.
// REQUIRES: the area has a width and a height.
PlaneView ViewOfWorld(const Box& area, bool is_text);

// The functions below need a layout of that view.
//
// Adds faint lines at round numbers.
void AddScaleLines(const Box& area, const Layout& layout, const RenderOptions& options, Scene& scene);
// Adds the numbers of these lines along the top and left edges.
void AddWorldNumbers(const Box& area, const Layout& layout, const RenderOptions& options, Scene& scene);
// Returns the sizes of query marks, which in images do not depend on the scale.
picture::MarkSizes SizesInWorld(const Layout& layout, bool is_text);
// Covers whatever extends beyond the plot.
void CoverMargins(const Layout& layout, const RenderOptions& options, Scene& scene);

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
