// Index of the cells at which horizontal jumps on a 4-connected grid must stop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/jumps/lazily_repaired_index.h"

namespace waystar::core {

// One bit per cell, set if a vertical jump from the cell, up or down, finds a jump point. Rows play the role
// of diagonals in DiagonalJumpIndex: among paths of equal cost, the one with its horizontal steps first is
// kept.
//
// The index takes an eighth of a byte per cell.
//
// Thread safety: immutable.
class TurnJumpIndex {
 public:
  // Builds the index in time proportional to the cells of the grid. The result is undefined once `cancelled`
  // is set.
  explicit TurnJumpIndex(const WalkCells& grid, CancelFlag cancelled = nullptr);
  // Repairs `before`, the index of `old`, into the index of `now`, which `changes` made from `old`. Time is
  // proportional to the changes and the length of the vertical runs that end there. `cancelled` is as above.
  TurnJumpIndex(const TurnJumpIndex& before, const WalkCells& old, const WalkCells& now,
                absl::Span<const WordChange> changes, CancelFlag cancelled = nullptr);

  // Returns the bits of row y, laid out as in bit_row.h.
  // REQUIRES: -1 <= y <= height.
  const Word* Row(int y) const { return rows_.row(y); }

  // Returns the work of the repair that made this index; see LazilyRepairedIndex.
  std::uint64_t repair_work() const { return repair_work_; }

  // Returns the approximate size in bytes of the index of a grid of that many cells.
  static constexpr std::size_t BytesFor(std::size_t cells) { return cells / 8; }
  std::size_t memory_bytes() const { return rows_.memory_bytes(); }
  // Returns the bytes held by this and not by `other`, which may be null.
  std::size_t BytesBeyond(const TurnJumpIndex* other) const {
    return other == nullptr ? memory_bytes() : rows_.BytesBeyond(other->rows_);
  }

 private:
  BitPlane rows_;
  std::uint64_t repair_work_ = 0;
};

}  // namespace waystar::core
