// The plane of a game's world in pictures: what part is shown, and its scale.
#pragma once

#include "server/core/grid/cell.h"
#include "server/core/render/layout.h"
#include "server/core/render/query_marks.h"
#include "server/core/render/scene.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// Returns a rectangle of whole units of the world around the box, with a margin; a small one if it is empty.
Rectangle UnitsWithMargin(const Box& box);

// Returns the view of a part of the world, in whole units of it.
PlaneView ViewOfWorld(const Rectangle& region, bool is_text);

// The following are for a layout of that view.
//
// Adds faint lines at round numbers.
void AddScaleLines(const Rectangle& region, const Layout& layout, const RenderOptions& options, Scene& scene);
// Adds those numbers along the upper and the left edge.
void AddWorldNumbers(const Rectangle& region, const Layout& layout, const RenderOptions& options,
                     Scene& scene);
// Returns the sizes of the marks of a query. In images they do not depend on the scale.
MarkSizes SizesInWorld(const Layout& layout, bool is_text);
// Covers what sticks out of the plot.
void CoverMargins(const Layout& layout, const RenderOptions& options, Scene& scene);

}  // namespace waystar::core
