#include "server/core/grid/shapes/shape_raster.h"

#include <cmath>
#include <limits>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/shapes/shape_rows.h"
#include "server/geometry/wide_integer.h"

namespace waystar::core {
namespace {

// Bounding box that certainly contains a part.
struct Box {
  double left = 0.0;
  double top = 0.0;
  double right = 0.0;
  double bottom = 0.0;
};

Box BoxOf(const Disc& disc, Lattice lattice) {
  const double reach = disc.radius * (lattice == Lattice::kHexagonal ? kHexReach : 1.0);
  return {disc.center.x - reach, disc.center.y - reach, disc.center.x + reach, disc.center.y + reach};
}

Box BoxOf(const Polygon& polygon, Lattice /*lattice*/) {
  const Point& first = polygon.vertices.front();
  Box box{first.x, first.y, first.x, first.y};
  for (const Point& vertex : polygon.vertices) {
    box = {std::min(box.left, vertex.x), std::min(box.top, vertex.y), std::max(box.right, vertex.x),
           std::max(box.bottom, vertex.y)};
  }
  return box;
}

Box BoxOf(const Line& line, Lattice lattice) {
  // Squares that the line passes through have centres less than half a cell away in x and y; those that close
  // a gap at a corner, at most half a cell. The corners of a hexagon are two thirds away.
  const double reach = lattice == Lattice::kHexagonal ? std::max(line.width / 2 * kHexReach, 2.0 / 3.0)
                                                      : std::max(line.width / 2, 0.5);
  return {std::min(line.start.x, line.end.x) - reach, std::min(line.start.y, line.end.y) - reach,
          std::max(line.start.x, line.end.x) + reach, std::max(line.start.y, line.end.y) + reach};
}

// Returns the cells with centres in the box, with a tolerance for rounding.
Rectangle CellsIn(const Box& box) {
  constexpr double kSlack = 1e-5;
  const auto left = static_cast<std::int32_t>(std::ceil(box.left - kSlack));
  const auto top = static_cast<std::int32_t>(std::ceil(box.top - kSlack));
  return {left, top, static_cast<std::int32_t>(std::floor(box.right + kSlack)) + 1 - left,
          static_cast<std::int32_t>(std::floor(box.bottom + kSlack)) + 1 - top};
}

Rectangle BoundsOfPart(const Rectangle& rectangle, Lattice /*lattice*/) { return rectangle; }
template <typename Part>
Rectangle BoundsOfPart(const Part& part, Lattice lattice) {
  return CellsIn(BoxOf(part, lattice));
}

// Returns the cells that share a point with the box.
Rectangle CellsAround(const Box& box) {
  return CellsIn({box.left - 0.5, box.top - 0.5, box.right + 0.5, box.bottom + 0.5});
}

bool IsInside(const Rectangle& inner, const Rectangle& outer) { return Intersect(inner, outer) == inner; }

// Calls use(rows) with the rasterizer of a part.
template <typename User>
void WithRows(const Disc& disc, Lattice lattice, User use) {
  use(DiscRows(disc, lattice));
}
template <typename User>
void WithRows(const Polygon& polygon, Lattice /*lattice*/, User use) {
  use(PolygonRows(polygon));
}
template <typename User>
void WithRows(const Line& line, Lattice lattice, User use) {
  if (lattice == Lattice::kHexagonal) {
    use(HexLineRows(line));
  } else {
    use(LineRows(line));
  }
}

template <typename Rows>
void AppendRows(Rows rows, const Rectangle& window, std::vector<RowSpan>& spans) {
  const std::int32_t begin = std::max(rows.rows().begin, window.y);
  const std::int32_t end = std::min(rows.rows().end, window.y + window.height);
  for (std::int32_t y = begin; y < end; ++y) {
    rows.VisitRow(y, [&](const Interval& interval) {
      const std::int32_t x_begin = std::max(interval.begin, window.x);
      const std::int32_t x_end = std::min(interval.end, window.x + window.width);
      if (x_begin < x_end) {
        spans.push_back({y, x_begin, x_end});
      }
    });
  }
}

std::int64_t CountOutsidePart(const Rectangle& rectangle, Lattice /*lattice*/, const Rectangle& window) {
  return rectangle.area() - Intersect(rectangle, window).area();
}

template <typename Rows>
std::int64_t CountRowsOutside(Rows rows, const Rectangle& window) {
  std::int64_t count = 0;
  for (std::int32_t y = rows.rows().begin; y < rows.rows().end; ++y) {
    const bool is_row_inside = y >= window.y && y < window.y + window.height;
    rows.VisitRow(y, [&](const Interval& interval) {
      count += interval.end - interval.begin;
      if (is_row_inside) {
        count -=
            std::max(0, std::min(interval.end, window.x + window.width) - std::max(interval.begin, window.x));
      }
    });
  }
  return count;
}

template <typename Part>
std::int64_t CountOutsidePart(const Part& part, Lattice lattice, const Rectangle& window) {
  std::int64_t count = 0;
  if (!IsInside(BoundsOfPart(part, lattice), window)) {
    WithRows(part, lattice, [&](auto rows) { count = CountRowsOutside(std::move(rows), window); });
  }
  return count;
}

// Returns the work of rows with at most `cells` cells in the window.
std::int64_t WorkOfRows(std::int64_t rows, std::int64_t cells) {
  return rows * std::max<std::int64_t>(cells, kWordBits);
}

// Returns the number of rows to visit: those in the window, plus all rows if some have cells outside.
template <typename Part>
std::int64_t RowsToVisit(const Part& part, const Rectangle& window) {
  const Rectangle bounds = BoundsOfPart(part, Lattice::kSquare);
  return IsInside(bounds, window) ? bounds.height : bounds.height + Intersect(bounds, window).height;
}

constexpr std::int64_t kWorkOfEdge = 256;

std::int64_t WorkOfPart(const Rectangle& rectangle, const Rectangle& window) {
  const Rectangle inside = Intersect(rectangle, window);
  return WorkOfRows(inside.height, inside.width);
}

std::int64_t WorkOfPart(const Disc& disc, const Rectangle& window) {
  const Rectangle inside = Intersect(BoundsOfPart(disc, Lattice::kSquare), window);
  return WorkOfRows(inside.height, inside.width) + RowsToVisit(disc, window) * kWordBits;
}

std::int64_t WorkOfPart(const Polygon& polygon, const Rectangle& window) {
  const Rectangle bounds = BoundsOfPart(polygon, Lattice::kSquare);
  const Rectangle inside = Intersect(bounds, window);
  const bool is_inside = IsInside(bounds, window);
  double edge_rows = 0.0;
  const Point* before = &polygon.vertices.back();
  for (const Point& vertex : polygon.vertices) {
    edge_rows += 2.0 + std::abs(vertex.y - before->y);
    before = &vertex;
  }
  return WorkOfRows(inside.height, inside.width) +
         static_cast<std::int64_t>(edge_rows) * kWorkOfEdge * (is_inside ? 1 : 2);
}

std::int64_t WorkOfPart(const Line& line, const Rectangle& window) {
  const Rectangle inside = Intersect(BoundsOfPart(line, Lattice::kSquare), window);
  const double length = std::hypot(line.end.x - line.start.x, line.end.y - line.start.y);
  const auto drawn = static_cast<std::int64_t>((length + line.width + 2.0) * (line.width + 3.0));
  return std::min(WorkOfRows(inside.height, inside.width), drawn) + RowsToVisit(line, window) * kWorkOfEdge;
}

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return a > kMax - b ? kMax : a + b;
}

// Calls visit(part) for each part that is not a cell.
template <typename Visitor>
void ForEachPart(const Shape& shape, Visitor visit) {
  std::for_each(shape.rectangles.begin(), shape.rectangles.end(), visit);
  std::for_each(shape.discs.begin(), shape.discs.end(), visit);
  std::for_each(shape.polygons.begin(), shape.polygons.end(), visit);
  std::for_each(shape.lines.begin(), shape.lines.end(), visit);
}

bool Holds(const Rectangle& window, Cell cell) { return !Intersect({cell.x, cell.y, 1, 1}, window).empty(); }

}  // namespace

Rectangle AreaAround(const Rectangle& rectangle) { return rectangle; }
Rectangle AreaAround(const Disc& disc) { return CellsAround(BoxOf(disc, Lattice::kSquare)); }
Rectangle AreaAround(const Polygon& polygon) { return CellsAround(BoxOf(polygon, Lattice::kSquare)); }
Rectangle AreaAround(const Line& line) { return CellsIn(BoxOf(line, Lattice::kSquare)); }

void AppendSpans(const Rectangle& rectangle, Lattice /*lattice*/, const Rectangle& window,
                 std::vector<RowSpan>& spans) {
  const Rectangle inside = Intersect(rectangle, window);
  for (std::int32_t y = inside.y; y < inside.y + inside.height; ++y) {
    spans.push_back({y, inside.x, inside.x + inside.width});
  }
}

void AppendSpans(const Disc& disc, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans) {
  WithRows(disc, lattice, [&](auto rows) { AppendRows(std::move(rows), window, spans); });
}

void AppendSpans(const Polygon& polygon, Lattice lattice, const Rectangle& window,
                 std::vector<RowSpan>& spans) {
  WithRows(polygon, lattice, [&](auto rows) { AppendRows(std::move(rows), window, spans); });
}

void AppendSpans(const Line& line, Lattice lattice, const Rectangle& window, std::vector<RowSpan>& spans) {
  WithRows(line, lattice, [&](auto rows) { AppendRows(std::move(rows), window, spans); });
}

SpanSet SpansOf(const Shape& shape, Lattice lattice, const Rectangle& window) {
  std::vector<RowSpan> spans;
  ForEachSpan(shape, lattice, window, [&](const RowSpan& span) { spans.push_back(span); });
  return SpanSet(std::move(spans));
}

std::int64_t CountOutside(const Shape& shape, Lattice lattice, const Rectangle& window) {
  std::int64_t count = 0;
  for (const Cell cell : shape.cells) {
    count += Holds(window, cell) ? 0 : 1;
  }
  ForEachPart(shape, [&](const auto& part) {
    count = SaturatingAdd(count, CountOutsidePart(part, lattice, window));
  });
  return count;
}

Rectangle BoundsOf(const Shape& shape, Lattice lattice, const Rectangle& window) {
  Rectangle bounds;
  const auto add = [&](const auto& part) {
    bounds = Union(bounds, Intersect(BoundsOfPart(part, lattice), window));
  };
  for (const Cell cell : shape.cells) {
    add(Rectangle{cell.x, cell.y, 1, 1});
  }
  ForEachPart(shape, add);
  return bounds;
}

std::int64_t WorkOf(const Shape& shape, const Rectangle& window) {
  auto work = static_cast<std::int64_t>(shape.cells.size());
  ForEachPart(shape, [&](const auto& part) { work = SaturatingAdd(work, WorkOfPart(part, window)); });
  return work;
}

bool IsFlat(const Polygon& polygon) {
  const FixedPoint first = ToFixed(polygon.vertices.front());
  FixedPoint along;
  for (const Point& vertex : polygon.vertices) {
    const FixedPoint point = ToFixed(vertex);
    const FixedPoint offset{point.x - first.x, point.y - first.y};
    if (Int128{along.x} * offset.y != Int128{along.y} * offset.x) {
      return false;
    }
    if (along.x == 0 && along.y == 0) {
      along = offset;
    }
  }
  return true;
}

}  // namespace waystar::core
