// Rasterizer of lines among hexagons, row by row: see shape_raster.h.
#pragma once

#include <cstdint>

#include "server/core/grid/shapes/hex_line.h"
#include "server/core/grid/shapes/shape_rows.h"
#include "server/geometry/shape.h"

namespace waystar::core {

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
