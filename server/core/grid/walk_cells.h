// The cells on which an agent may stand, by rows and by columns.
#pragma once

#include <utility>

#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

// Rows of bits and, transposed, columns of bits of the same cells.
//
// Thread safety: immutable, so any number of threads may read it.
class WalkCells {
 public:
  // REQUIRES: `columns` is `rows`, transposed.
  WalkCells(BitPlane rows, BitPlane columns) : rows_(std::move(rows)), columns_(std::move(columns)) {}

  int width() const { return rows_.width(); }
  int height() const { return rows_.height(); }
  bool Contains(Cell cell) const {
    return static_cast<unsigned>(cell.x) < static_cast<unsigned>(width()) &&
           static_cast<unsigned>(cell.y) < static_cast<unsigned>(height());
  }

  // False off the map.
  bool IsWalkable(Cell cell) const { return rows_.Test(cell); }

  // Bits of the walkable cells of row y, cell x being bit x + 1; see bit_row.h.
  // REQUIRES: -1 <= y <= height(); the rows just off the map are empty.
  const Word* Row(int y) const { return rows_.row(y); }
  // Bits of the walkable cells of column x, cell y being bit y + 1. REQUIRES: -1 <= x <= width().
  const Word* Column(int x) const { return columns_.row(x); }

  const BitPlane& rows() const { return rows_; }
  const BitPlane& columns() const { return columns_; }

 private:
  BitPlane rows_;
  BitPlane columns_;
};

}  // namespace waystar::core
