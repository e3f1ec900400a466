// Rasterizers of single discs, polygons and lines, row by row; used by shape_raster.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/shapes/hex_line.h"
#include "server/geometry/shape.h"
#include "server/geometry/wide_integer.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Integers begin, ..., end - 1.
struct Interval {
  std::int32_t begin = 0;
  std::int32_t end = 0;

  bool empty() const { return begin >= end; }
};

// Units of fixed-point coordinates per cell.
inline constexpr auto kUnitsPerCell = static_cast<std::int64_t>(kFixedScale);

class DiscRows {
 public:
  DiscRows(const Disc& disc, Lattice lattice);

  // Returns an interval that contains all rows with cells.
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

// Rasterizer of a polygon. Its rows must be visited in ascending order.
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
  // An edge from its upper end to its lower one.
  struct Edge {
    FixedPoint from;
    FixedPoint to;
    // Rows whose cell centres lie at a height at which the edge has points.
    Interval rows;
  };

  void FillRow(std::int32_t y);
  void CrossRow(const Edge& edge, std::int32_t y);

  // Edges, sorted by their first rows.
  std::vector<Edge> edges_;
  Interval rows_;
  std::size_t next_ = 0;
  std::vector<const Edge*> active_;
  // For each edge at which a row changes between inside and outside, the first cell on or right of the edge.
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
  // Returns the cells of a row that the line passes through.
  Interval ThinRow(std::int32_t y) const;
  // Returns the cells of a row whose centre is within half the width of the line.
  Interval WideRow(std::int32_t y) const;
  bool IsNear(std::int64_t x, std::int64_t y) const;
  // Returns a few adjacent cells that include the nearest of its row.
  Interval NearestInRow(std::int32_t y) const;
  // Returns an estimate of the interval of cells near the line in a row.
  Interval GuessRow(std::int32_t y) const;

  // Upper end of the line, or the left one of two at the same height.
  FixedPoint from_;
  FixedPoint to_;
  std::int64_t half_width_;
  Interval rows_;
};

class HexLineRows {
 public:
  explicit HexLineRows(const Line& line);

  Interval rows() const { return rows_; }
  template <typename Visitor>
  void VisitRow(std::int32_t y, Visitor visit) const {
    if (const Interval row = Row(y); !row.empty()) {
      visit(row);
    }
  }

 private:
  // Returns the union of the thin and the wide row. It is one interval: both sets are convex, and the thin
  // row either lies inside the wide one or is the whole result.
  Interval Row(std::int32_t y) const;
  Interval ThinRow(std::int32_t y) const;
  Interval WideRow(std::int32_t y) const;

  Line line_;
  HexLine thin_;
  Interval rows_;
};

}  // namespace waystar::core
