// Index of the cells at which horizontal jumps on a 4-connected grid must stop.
#pragma once

#include <cstddef>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/jump_index/cancelled.h"

namespace waystar::core {

class WalkCells;

// One bit a cell. It is set where a vertical jump from the cell, up or down, finds a jump point. A row is
// here what a diagonal is in DiagonalJumpIndex: of equally cheap ways that with horizontal steps first is
// kept.
//
// The index costs an eighth of a byte a cell. Thread safety: immutable.
class TurnJumpIndex {
 public:
  // Builds the index in time proportional to the cells of the grid. It is undefined once `cancelled` is set.
  explicit TurnJumpIndex(const WalkCells& grid, CancelFlag cancelled = nullptr);
  // Repairs `before`, the index of `old`, into that of `now`, which `changes` made from `old`. The time is
  // proportional to the changes and the length of the vertical runs that end there. `cancelled` is as above.
  TurnJumpIndex(const TurnJumpIndex& before, const WalkCells& old, const WalkCells& now,
                absl::Span<const WordChange> changes, CancelFlag cancelled = nullptr);

  // Returns the bits of row y, laid out as bit_row.h says. REQUIRES: -1 <= y <= height.
  const Word* Row(int y) const { return rows_.row(y); }

  // Returns about how many bytes the index of a grid of that many cells takes.
  static constexpr std::size_t BytesFor(std::size_t cells) { return cells / 8; }
  std::size_t memory_bytes() const { return rows_.memory_bytes(); }
  // Returns the bytes held that `other`, if it is not null, does not hold.
  std::size_t BytesBeyond(const TurnJumpIndex* other) const {
    return other == nullptr ? memory_bytes() : rows_.BytesBeyond(other->rows_);
  }

 private:
  BitPlane rows_;
};

}  // namespace waystar::core
