// The rows of single shapes: what shape_raster.h is made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/lattice.h"
#include "server/core/shape/shape.h"
#include "server/core/shape/wide_integer.h"

namespace waystar::core {

// From begin to end - 1.
struct Interval {
  std::int32_t begin = 0;
  std::int32_t end = 0;

  bool empty() const { return begin >= end; }
};

// Points in units of 2^-20 of a cell.
inline constexpr std::int64_t kUnitsPerCell = std::int64_t{1} << 20;

struct FixedPoint {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

inline std::int64_t ToFixed(double value) { return std::llround(value * static_cast<double>(kUnitsPerCell)); }
inline FixedPoint ToFixed(const Point& point) { return {ToFixed(point.x), ToFixed(point.y)}; }

class DiscRows {
 public:
  DiscRows(const Disc& disc, Lattice lattice);

  // Holds all rows with cells.
  Interval rows() const { return rows_; }
  template <typename Visitor>
  void VisitRow(std::int32_t y, Visitor visit) const {
    if (const Interval row = Row(y); !row.empty()) {
      visit(row);
    }
  }

 private:
  Interval Row(std::int32_t y) const;

  Disc disc_;
  Lattice lattice_;
  Interval rows_;
};

// Rows are to be visited in ascending order.
class PolygonRows {
 public:
  explicit PolygonRows(const Polygon& polygon);

  Interval rows() const { return rows_; }
  template <typename Visitor>
  void VisitRow(std::int32_t y, Visitor visit) {
    FillRow(y);
    for (const Interval& span : spans_) {
      visit(span);
    }
  }

 private:
  // From the upper end to the lower.
  struct Edge {
    FixedPoint from;
    FixedPoint to;
    // In which it has points at the height of cells' centres.
    Interval rows;
  };

  void FillRow(std::int32_t y);
  void CrossRow(const Edge& edge, std::int32_t y);

  // In the order of their first rows.
  std::vector<Edge> edges_;
  Interval rows_;
  std::size_t next_ = 0;
  std::vector<const Edge*> active_;
  // The first cells that lie on or right of an edge, for those that change between inside and outside.
  std::vector<std::int32_t> crossings_;
  std::vector<Interval> spans_;
};

class LineRows {
 public:
  explicit LineRows(const Line& line);

  Interval rows() const { return rows_; }
  template <typename Visitor>
  void VisitRow(std::int32_t y, Visitor visit) const {
    const Interval thin = ThinRow(y);
    const Interval wide = WideRow(y);
    if (thin.empty() || wide.empty()) {
      if (!thin.empty() || !wide.empty()) {
        visit(thin.empty() ? wide : thin);
      }
    } else if (thin.end < wide.begin || wide.end < thin.begin) {
      visit(thin.begin < wide.begin ? thin : wide);
      visit(thin.begin < wide.begin ? wide : thin);
    } else {
      visit(Interval{std::min(thin.begin, wide.begin), std::max(thin.end, wide.end)});
    }
  }

 private:
  // Of cells that the line passes through.
  Interval ThinRow(std::int32_t y) const;
  // Of cells whose centre is near enough.
  Interval WideRow(std::int32_t y) const;
  bool IsNear(std::int64_t x, std::int64_t y) const;
  // Cells next to each other of which one is the nearest of its row.
  Interval NearestInRow(std::int32_t y) const;
  // About where the row of cells that are near begins and ends.
  Interval GuessRow(std::int32_t y) const;

  // The upper one, or the left one of two at the same height.
  FixedPoint from_;
  FixedPoint to_;
  std::int64_t half_width_;
  Interval rows_;
};

}  // namespace waystar::core
