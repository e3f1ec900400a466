// Rasterizer of shapes: finds the cells that a shape covers.
//
// The result is the same on every machine. A cell is in a disc if dx * dx + dy * dy <= radius * radius in
// IEEE doubles, with each operation rounded separately. Points of polygons and lines, and widths of lines,
// are rounded to the nearest 2^-20 of a cell; all further computation is in integers, without rounding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/lattice.h"
#include "server/core/grid/shapes/span_set.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Appends the cells of a part that lie in `window`, in row-major order, with a gap between the spans of a
// row. Time is proportional to the rows of the window in which the part has cells; for a polygon, times the
// edges that cross a row.
// REQUIRES: the part is valid by CheckShape.
void AppendSpans(const Rectangle& rectangle, Lattice lattice, const Rectangle& window,
                 std::vector<RowSpan>& spans);
void AppendSpans(const Disc& disc, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans);
void AppendSpans(const Polygon& polygon, Lattice lattice, const Rectangle& window,
                 std::vector<RowSpan>& spans);
void AppendSpans(const Line& line, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans);

// Calls visit(span) for the cells of a shape that lie in `window`. Cells covered by several parts are visited
// repeatedly.
template <typename Visitor>
void ForEachSpan(const Shape& shape, Lattice lattice, const Rectangle& window, Visitor visit) {
  for (const Cell cell : shape.cells) {
    if (!Intersect({cell.x, cell.y, 1, 1}, window).empty()) {
      visit(RowSpan{cell.y, cell.x, cell.x + 1});
    }
  }
  std::vector<RowSpan> spans;
  const auto visit_part = [&](const auto& part) {
    spans.clear();
    AppendSpans(part, lattice, window, spans);
    std::for_each(spans.begin(), spans.end(), visit);
  };
  std::for_each(shape.rectangles.begin(), shape.rectangles.end(), visit_part);
  std::for_each(shape.discs.begin(), shape.discs.end(), visit_part);
  std::for_each(shape.polygons.begin(), shape.polygons.end(), visit_part);
  std::for_each(shape.lines.begin(), shape.lines.end(), visit_part);
}

// Returns the cells of a shape that lie in `window`, each once.
SpanSet SpansOf(const Shape& shape, Lattice lattice, const Rectangle& window);

// Returns the number of cells of a shape outside `window`, counting a cell once per part that covers it; at
// most 2^63 - 1. Time grows with the rows that extend beyond the window.
std::int64_t CountOutside(const Shape& shape, Lattice lattice, const Rectangle& window);

// Returns a nearly minimal rectangle that contains all cells of the shape that lie in `window`.
Rectangle BoundsOf(const Shape& shape, Lattice lattice, const Rectangle& window);

// Returns a rectangle of all cells that share points with a part; used to decide whether it is off the map.
Rectangle AreaAround(const Rectangle& rectangle);
Rectangle AreaAround(const Disc& disc);
Rectangle AreaAround(const Polygon& polygon);
Rectangle AreaAround(const Line& line);

// Returns a measure of the time to draw a shape into `window` and to count the cells outside: the cells
// inside, where a row counts as at least 64, plus 256 per row of a line and per edge of a polygon in a row.
std::int64_t WorkOf(const Shape& shape, const Rectangle& window);

// Returns true if the polygon's vertices all lie on one line.
// REQUIRES: their coordinates are in range.
bool IsFlat(const Polygon& polygon);

}  // namespace waystar::core
