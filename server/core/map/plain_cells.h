// Cells that a search over weighted terrain may pass without a look around.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

class GridMap;

// For each cell whether CanonicalSteps (canonical_steps.h) is what it would be amid cells of one cost, under
// every corner rule. Where the cell or one beside it has costs of its own, only if all nine are walkable and
// cost the same. A function of the map's cells alone, whatever changes led to them.
//
// Takes 3 bits a cell. Making it costs 10 to 15 ns a cell on game maps, less where terrains cost the
// same; keeping it some microseconds a changed cell.
//
// Thread safety: immutable, so any number of threads may read it.
class PlainCells {
 public:
  // REQUIRES: the map is 8-connected.
  explicit PlainCells(const GridMap& map);
  // Those of `map`, given those of the map before and every cell that differs between the two: in
  // walkability, in cost, or in that the cost is the cell's own. Costs in proportion to the changes.
  PlainCells(const PlainCells& before, const GridMap& map, absl::Span<const WordChange> changes);

  // Cells of row y that a path along the row does not turn at, whichever way it goes: the only canonical step
  // leads straight on, and both neighbours in the row cost the same as the cell. Cell x is bit x + 1; see
  // bit_row.h. REQUIRES: 0 <= y < height.
  const Word* AlongRow(int y) const { return along_rows_.row(y); }
  // The same for paths along column x, cell y being bit y + 1. REQUIRES: 0 <= x < width.
  const Word* AlongColumn(int x) const { return along_columns_.row(x); }

  // Whether after each of the four diagonal steps into the cell the canonical steps are the natural ones.
  bool IsPlainForDiagonals(Cell cell) const { return diagonally_.Test(cell); }

  std::size_t memory_bytes() const {
    return along_rows_.memory_bytes() + along_columns_.memory_bytes() + diagonally_.memory_bytes();
  }
  // Bytes held that `other`, if it is not null, does not hold.
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
