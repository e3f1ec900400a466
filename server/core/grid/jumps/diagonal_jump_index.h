// Index of the cells at which diagonal jumps must stop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/plane.h"
#include "server/core/grid/jumps/lazily_repaired_index.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Direction of a straight jump along its line, a row or a column: to higher or lower positions.
enum class Sense : std::uint8_t { kForward, kBackward };

constexpr Sense SenseOf(int step) { return step > 0 ? Sense::kForward : Sense::kBackward; }

// One bit per cell and diagonal direction. It is set if a jump in that direction must stop at the cell: the
// next step is not legal, the cell is a jump point, or a straight jump from it to one of the two sides finds
// a jump point. Diagonal jumps can then scan 64 cells per instruction.
//
// JPS+ (Harabor, Grastien, "Improving Jump Point Search", 2014) stores the distance to the next stop instead;
// one changed cell can change tens of thousands of distances. A stop depends on only two straight runs, so a
// changed cell changes the bits of the few runs that pass it.
//
// The index also has the cells from which straight jumps find a jump point, by row and by column, so that a
// repair compares a word of them with the new one and flips the stops that differ.
//
// The index takes a byte per cell.
//
// Thread safety: immutable.
class DiagonalJumpIndex {
 public:
  // Builds the index in about 2 ns per cell. The result is undefined once `cancelled` is set.
  DiagonalJumpIndex(const WalkCells& grid, CornerRule rule, CancelFlag cancelled = nullptr);
  // Repairs `before` into the index of `now`, which `changes` made from the previous grid. Time is
  // proportional to the changes and the length of the runs that end there. `cancelled` is as above.
  DiagonalJumpIndex(const DiagonalJumpIndex& before, const WalkCells& now,
                    absl::Span<const WordChange> changes, CancelFlag cancelled = nullptr);

  // Returns the number of steps of a diagonal jump from a cell until it must stop; 1 if the first step is not
  // legal.
  // REQUIRES: the cell is on the map; kDirection is diagonal.
  template <Direction kDirection>
  int StepsToStop(Cell from) const {
    const int diagonal = DiagonalOf(kDirection, from);
    constexpr int kStep = kSteps[static_cast<std::size_t>(kDirection)].y;
    const int stop = NextSetBit<kStep>(static_cast<unsigned>(from.y + 1 + kStep), [&](std::size_t block) {
      return *At(kDirection, diagonal, static_cast<int>(block));
    });
    return std::abs(stop - (from.y + 1));
  }

  // Returns the work of the repair that made this index; see LazilyRepairedIndex.
  std::uint64_t repair_work() const { return repair_work_; }

  // Returns the approximate size in bytes of the index of a grid of that many cells.
  static constexpr std::size_t BytesFor(std::size_t cells) { return cells; }
  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Returns the bytes held by this and not by `other`, which may be null.
  std::size_t BytesBeyond(const DiagonalJumpIndex* other) const;

 private:
  class Builder;
  class Repairer;

  // Cells of all lines of an axis from which straight jumps find a jump point, by sense.
  struct Finds {
    Finds(int lines, int length) : cells{BitPlane(length, lines, false), BitPlane(length, lines, false)} {}

    const BitPlane& To(Sense sense) const { return cells[static_cast<std::size_t>(sense)]; }

    std::array<BitPlane, 2> cells;
  };

  void Repair(const WalkCells& now, absl::Span<const WordChange> changes, CancelFlag cancelled);

  // Diagonals wrap around: one that leaves the map at one side continues at the other, after a column outside
  // the map that stops it. `wrap_` diagonals with one bit per row therefore hold all cells. Those of one
  // direction run along x - y, those of the other along x + y.
  int DiagonalOf(Direction direction, Cell cell) const {
    const bool falls = direction == Direction::kSouthEast || direction == Direction::kNorthWest;
    int diagonal = falls ? cell.x - cell.y : cell.x + cell.y;
    // No division on maps that are at most as high as wide.
    diagonal += diagonal < 0 ? wrap_ : 0;
    diagonal -= diagonal >= wrap_ ? wrap_ : 0;
    if (static_cast<unsigned>(diagonal) >= static_cast<unsigned>(wrap_)) {
      diagonal = (diagonal % wrap_ + wrap_) % wrap_;
    }
    return diagonal;
  }

  // RowOf and PlaceOf return the row of words_, and the index in it, of 64 cells of a diagonal: those whose y
  // + 1 is in the block. Words of one block are adjacent, so that a change along a row touches few bands.
  int RowOf(Direction direction, int diagonal, int block) const {
    const int segment = diagonal >> kSegmentShift;
    return (block * segments_ + segment) * 4 + (static_cast<int>(direction) >> 1);
  }
  static std::size_t PlaceOf(int diagonal) {
    return static_cast<std::size_t>(diagonal) & ((std::size_t{1} << kSegmentShift) - 1);
  }
  const Word* At(Direction direction, int diagonal, int block) const {
    return words_.row(RowOf(direction, diagonal, block)) + PlaceOf(diagonal);
  }

  static constexpr int kSegmentShift = 8;
  // Size of a band; small, because a changed cell touches a few words per direction and each clones a band.
  static constexpr std::size_t kBandBytes = std::size_t{1} << kSegmentShift << 3;

  CornerRule rule_;
  int wrap_;
  int segments_;
  int blocks_;
  // Bit (y + 1) % 64 of a word is the cell in row y. Bits of cells outside the map are set.
  Plane<Word> words_;
  Finds finds_in_rows_;
  Finds finds_in_columns_;
  std::uint64_t repair_work_ = 0;
};

}  // namespace waystar::core
