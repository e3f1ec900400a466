// The cells that a search over weighted terrain may pass without looking around.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_cells.h"

namespace waystar::core {

// Tells, for each cell, whether CanonicalSteps (canonical_steps.h) is what it would be amid cells of one
// cost, under every corner rule. Where the cell or one beside it has costs of its own, that is only so if all
// nine are walkable and cost the same. It is a function of the map's cells alone.
//
// It takes 3 bits a cell. Making it costs about a nanosecond for a cell amid others of its terrain, and some
// 10 to 50 ns for any other; keeping it costs some microseconds a changed cell.
//
// Thread safety: immutable, so any number of threads may read it.
class PlainCells {
 public:
  // REQUIRES: the map is 8-connected.
  explicit PlainCells(const GridCells& map);
  // Repairs `before` into the plain cells of `map`, given every cell that differs between the two maps: in
  // walkability, in cost, or in whether the cost is the cell's own. The cost is proportional to the changes.
  PlainCells(const PlainCells& before, const GridCells& map, absl::Span<const WordChange> changes);

  // Returns the cells of row y at which a path along the row does not turn, whichever way it goes: the only
  // canonical step leads straight on, and both neighbours in the row cost the same as the cell. Cell x is bit
  // x + 1; see bit_row.h. REQUIRES: 0 <= y < height.
  const Word* AlongRow(int y) const { return along_rows_.row(y); }
  // As AlongRow, for paths along column x, cell y being bit y + 1. REQUIRES: 0 <= x < width.
  const Word* AlongColumn(int x) const { return along_columns_.row(x); }

  // Returns whether the canonical steps after each diagonal step into the cell are the natural ones.
  bool IsPlainForDiagonals(Cell cell) const { return diagonally_.Test(cell); }

  std::size_t memory_bytes() const {
    return along_rows_.memory_bytes() + along_columns_.memory_bytes() + diagonally_.memory_bytes();
  }
  // Returns the bytes held that `other`, if it is not null, does not hold.
  std::size_t BytesBeyond(const PlainCells* other) const {
    return other == nullptr ? memory_bytes()
                            : along_rows_.BytesBeyond(other->along_rows_) +
                                  along_columns_.BytesBeyond(other->along_columns_) +
                                  diagonally_.BytesBeyond(other->diagonally_);
  }

 private:
  BitPlane along_rows_;
  BitPlane along_columns_;
  BitPlane diagonally_;
};

}  // namespace waystar::core
