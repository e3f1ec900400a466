// Rasterizer of shapes: finds which cells a shape covers.
//
// The result is the same on every machine. A cell is in a disc if dx * dx + dy * dy <= radius * radius in
// IEEE doubles, each operation rounded by itself. The points of polygons and lines, and the widths of lines,
// are rounded to the nearest 2^-20 of a cell; from there on integers decide, without rounding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/lattice.h"
#include "server/core/shape/shape.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Appends the cells of a part that lie in `window`, row by row, from left to right, with a gap between the
// spans of a row. The time is proportional to the rows of the window in which the part has cells; for a
// polygon it is multiplied by the edges that cross a row. REQUIRES: the part is valid by CheckShape.
void AppendSpans(const Rectangle& rectangle, Lattice lattice, const Rectangle& window,
                 std::vector<RowSpan>& spans);
void AppendSpans(const Disc& disc, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans);
void AppendSpans(const Polygon& polygon, Lattice lattice, const Rectangle& window,
                 std::vector<RowSpan>& spans);
void AppendSpans(const Line& line, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans);

// Calls visit(span) for the cells of a whole shape that lie in `window`. Cells of several parts come
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

// Returns the cells of a whole shape that lie in `window`, each once.
SpanSet SpansOf(const Shape& shape, Lattice lattice, const Rectangle& window);

// Returns the number of cells of a shape outside `window`, a cell counted for each part that covers it, or
// 2^63 - 1 if there are more. The time grows with the rows that stick out.
std::int64_t CountOutside(const Shape& shape, Lattice lattice, const Rectangle& window);

// Returns a nearly minimal rectangle that holds all cells of the shape that lie in `window`.
Rectangle BoundsOf(const Shape& shape, Lattice lattice, const Rectangle& window);

// Returns a rectangle of all cells in or between which a part has points; it decides what is off the map.
Rectangle AreaAround(const Rectangle& rectangle);
Rectangle AreaAround(const Disc& disc);
Rectangle AreaAround(const Polygon& polygon);
Rectangle AreaAround(const Line& line);

// Returns a measure of the time it takes to draw a shape into `window` and to count what lies outside: the
// cells inside, where a row counts as at least 64, plus 256 for each row of a line and each edge of a polygon
// in a row.
std::int64_t WorkOf(const Shape& shape, const Rectangle& window);

// Returns whether the polygon's vertices all lie on one line. REQUIRES: their coordinates are in range.
bool IsFlat(const Polygon& polygon);

}  // namespace waystar::core
