// The plane of a game's world in pictures: what part is shown, and its scale.
#pragma once

#include "server/core/grid/cell.h"
#include "server/core/render/layout.h"
#include "server/core/render/query_marks.h"
#include "server/core/render/scene.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// Returns an area around the box with a margin in proportion, whose sides are round numbers: whole units of
// the world around a box of ten units or more, thousandths around one of 0.02. Around a point it is some
// units wide. Returns the unit square if the box is empty.
Box WithMargin(const Box& box);

// Returns the smallest rectangle of whole units around the area.
// REQUIRES: the rectangle's numbers fit into 32 bits.
Rectangle WholeUnits(const Box& area);

// Returns the view of an area of the world. REQUIRES: the area has a width and a height.
PlaneView ViewOfWorld(const Box& area, bool is_text);

// The following are for a layout of that view.
//
// Adds faint lines at round numbers.
void AddScaleLines(const Box& area, const Layout& layout, const RenderOptions& options, Scene& scene);
// Adds those numbers along the upper and the left edge.
void AddWorldNumbers(const Box& area, const Layout& layout, const RenderOptions& options, Scene& scene);
// Returns the sizes of the marks of a query. In images they do not depend on the scale.
MarkSizes SizesInWorld(const Layout& layout, bool is_text);
// Covers what sticks out of the plot.
void CoverMargins(const Layout& layout, const RenderOptions& options, Scene& scene);

}  // namespace waystar::core
