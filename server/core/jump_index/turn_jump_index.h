// Where a horizontal jump on a 4-connected grid has to look around.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/jump_index/cancelled.h"

namespace waystar::core {

class WalkCells;

// A bit a cell: set where a vertical jump from it, up or down, finds a jump point. See DiagonalJumpIndex,
// whose part a row plays here: of equally cheap ways the one with horizontal steps first is kept.
//
// Costs an eighth of a byte a cell. Thread safety: immutable.
class TurnJumpIndex {
 public:
  // In time proportional to the cells of the grid. Of no use once `cancelled` is set.
  explicit TurnJumpIndex(const WalkCells& grid, CancelFlag cancelled = nullptr);
  // Of `now`, which `changes` made from `old`, whose stops are `before`. In proportion to the changes and the
  // length of the vertical runs that end there. Likewise.
  TurnJumpIndex(const TurnJumpIndex& before, const WalkCells& old, const WalkCells& now,
                absl::Span<const WordChange> changes, CancelFlag cancelled = nullptr);

  // Bits of row y, laid out as bit_row.h says. REQUIRES: -1 <= y <= height.
  const Word* Row(int y) const { return rows_.row(y); }

  // About what a grid of so many cells costs.
  static constexpr std::size_t BytesFor(std::size_t cells) { return cells / 8; }
  std::size_t memory_bytes() const { return rows_.memory_bytes(); }
  // Bytes held that `other`, if it is not null, does not hold.
  std::size_t BytesBeyond(const TurnJumpIndex* other) const {
    return other == nullptr ? memory_bytes() : rows_.BytesBeyond(other->rows_);
  }

 private:
  BitPlane rows_;
};

}  // namespace waystar::core
