// Walkable cells as bits, by rows and by columns.
#pragma once

#include <utility>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// A bit plane of walkable cells and its transpose.
//
// Thread safety: immutable.
class WalkCells {
 public:
  // REQUIRES: `columns` is the transpose of `rows`.
  WalkCells(BitPlane rows, BitPlane columns) : rows_(std::move(rows)), columns_(std::move(columns)) {}

  int width() const { return rows_.width(); }
  int height() const { return rows_.height(); }
  bool Contains(Cell cell) const {
    return static_cast<unsigned>(cell.x) < static_cast<unsigned>(width()) &&
           static_cast<unsigned>(cell.y) < static_cast<unsigned>(height());
  }

  // Returns false for cells outside the map.
  bool IsWalkable(Cell cell) const { return rows_.Test(cell); }

  // Returns the walkable cells of row y; cell x is bit x + 1, see bit_row.h. The rows just outside the map
  // are empty.
  // REQUIRES: -1 <= y <= height().
  const Word* Row(int y) const { return rows_.row(y); }
  // Returns the walkable cells of column x; cell y is bit y + 1.
  // REQUIRES: -1 <= x <= width().
  const Word* Column(int x) const { return columns_.row(x); }

  const BitPlane& rows() const { return rows_; }
  const BitPlane& columns() const { return columns_; }

 private:
  BitPlane rows_;
  BitPlane columns_;
};

}  // namespace waystar::core
