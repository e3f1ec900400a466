// Rasterizer of shapes: finds the cells that a shape covers.
//
// The result is the same on every machine. A cell is in a disc if dx * dx + dy * dy <= radius * radius in
// IEEE doubles, with each operation rounded separately. Points of polygons and lines, and widths of lines,
// are rounded to the nearest 2^-20 of a cell; all further computation is in integers, without rounding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Cells of row y with x_begin <= x < x_end.
struct RowSpan {
  std::int32_t y = 0;
  std::int32_t x_begin = 0;
  std::int32_t x_end = 0;

  friend bool operator==(const RowSpan&, const RowSpan&) = default;
};

// Set of cells to which spans can be added in any order.
class SpanSet {
 public:
  SpanSet() = default;
  explicit SpanSet(std::vector<RowSpan> spans) : spans_(std::move(spans)) {}

  // REQUIRES: the span is not empty.
  void Add(const RowSpan& span) {
    if (!spans_.empty() && Join(spans_.back(), span)) {
      return;
    }
    if (spans_.size() >= 2 * merged_ + kUnmerged) {
      Merge();
    }
    spans_.push_back(span);
  }

  // Returns the spans in row-major order, with a gap between the spans of a row.
  absl::Span<const RowSpan> Sorted() {
    Merge();
    return spans_;
  }

  bool empty() const { return spans_.empty(); }
  void Clear() {
    spans_.clear();
    merged_ = 0;
  }

 private:
  // Minimum number of unmerged spans that triggers a merge.
  static constexpr std::size_t kUnmerged = 1024;

  // Makes `into` the union of both spans and returns true if they overlap or touch.
  static bool Join(RowSpan& into, const RowSpan& span) {
    if (into.y != span.y || span.x_begin > into.x_end || span.x_end < into.x_begin) {
      return false;
    }
    into.x_begin = std::min(into.x_begin, span.x_begin);
    into.x_end = std::max(into.x_end, span.x_end);
    return true;
  }

  void Merge() {
    const auto is_before = [](const RowSpan& a, const RowSpan& b) {
      return a.y != b.y ? a.y < b.y : a.x_begin < b.x_begin;
    };
    if (!std::is_sorted(spans_.begin(), spans_.end(), is_before)) {
      std::sort(spans_.begin(), spans_.end(), is_before);
    }
    std::size_t kept = 0;
    for (const RowSpan span : spans_) {
      if (kept == 0 || !Join(spans_[kept - 1], span)) {
        spans_[kept++] = span;
      }
    }
    spans_.resize(kept);
    merged_ = kept;
  }

  std::vector<RowSpan> spans_;
  std::size_t merged_ = 0;
};

// Calls visit(span, is_of_first) for the cells that are in exactly one of two sets.
// REQUIRES: both have the form that SpanSet::Sorted returns.
template <typename Visitor>
void ForEachDifference(absl::Span<const RowSpan> first, absl::Span<const RowSpan> second, Visitor visit) {
  const auto subtract = [&](absl::Span<const RowSpan> from, absl::Span<const RowSpan> other, bool is_first) {
    std::size_t i = 0;
    for (RowSpan rest : from) {
      while (i < other.size() &&
             (other[i].y != rest.y ? other[i].y < rest.y : other[i].x_end <= rest.x_begin)) {
        ++i;
      }
      for (std::size_t j = i; j < other.size() && other[j].y == rest.y && other[j].x_begin < rest.x_end;
           ++j) {
        if (other[j].x_begin > rest.x_begin) {
          visit(RowSpan{rest.y, rest.x_begin, other[j].x_begin}, is_first);
        }
        rest.x_begin = other[j].x_end;
      }
      if (rest.x_begin < rest.x_end) {
        visit(rest, is_first);
      }
    }
  };
  subtract(first, second, true);
  subtract(second, first, false);
}

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
