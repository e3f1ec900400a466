// Which cells a shape covers.
//
// The answer is the same on every machine. Whether a cell is in a disc is decided by dx * dx + dy * dy <=
// radius * radius in IEEE doubles, each operation rounded by itself. The points of polygons and lines, and
// the widths of lines, are rounded to the nearest 2^-20 of a cell; from there on integers decide, without
// rounding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/lattice.h"
#include "server/core/shape/shape.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Appends the cells of a part that lie in `window`: row by row, from left to right, with a gap between spans
// of a row. Costs time in proportion to the rows of the window that the part has cells in; for a polygon
// times the edges that cross a row. REQUIRES: the part is valid, as CheckShape says.
void AppendSpans(const Rectangle& rectangle, Lattice lattice, const Rectangle& window,
                 std::vector<RowSpan>& spans);
void AppendSpans(const Disc& disc, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans);
void AppendSpans(const Polygon& polygon, Lattice lattice, const Rectangle& window,
                 std::vector<RowSpan>& spans);
void AppendSpans(const Line& line, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans);

// Calls visit(span) for the cells of a whole shape that lie in `window`, those of several parts repeatedly.
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

// The cells of a whole shape that lie in `window`, each once.
SpanSet SpansOf(const Shape& shape, Lattice lattice, const Rectangle& window);

// Those of a shape that lie outside `window`, a cell counted for each part that covers it; 2^63 - 1 if there
// are more. Costs time in proportion to the rows of discs, polygons and lines that stick out.
std::int64_t CountOutside(const Shape& shape, Lattice lattice, const Rectangle& window);

// A rectangle that holds all cells of the shape that lie in `window`, and is hardly larger than it need be.
Rectangle BoundsOf(const Shape& shape, Lattice lattice, const Rectangle& window);

// The cells that a part has points in or between, none left out: what says whether it is off the map.
Rectangle AreaAround(const Rectangle& rectangle);
Rectangle AreaAround(const Disc& disc);
Rectangle AreaAround(const Polygon& polygon);
Rectangle AreaAround(const Line& line);

// A measure of the time that it takes to draw a shape into `window` and to count what lies outside: the cells
// inside, a row counting as 64 at the least, and 256 for each row of a line and each edge of a polygon in a
// row.
std::int64_t WorkOf(const Shape& shape, const Rectangle& window);

// Whether the polygon's vertices all lie on one line. REQUIRES: they are in their range.
bool IsFlat(const Polygon& polygon);

}  // namespace waystar::core
