// Index of the cells at which diagonal jumps must stop.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/plane.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/jump_index/run_ends.h"

namespace waystar::core {

class WalkCells;

// One bit a cell for each diagonal direction. It is set where a jump in that direction must stop: the next
// step is not legal, or the cell is a jump point itself, or a straight jump from it to one of the two sides
// finds a jump point. A jump then takes 64 cells an instruction along a diagonal as well.
//
// JPS+ (Harabor, Grastien, "Improving Jump Point Search", 2014) keeps the distance to the next stop instead,
// of which one changed cell can change tens of thousands. A stop depends on two straight runs only, so a
// changed cell changes the bits of the few runs that pass it.
//
// Those runs may cross the map, and bits that lie together along diagonals lie apart along a run. So where
// all 64 cells of a word of a row or column come to find a jump point, a repair says so in one bit (RunEnds);
// where they all cease to and there are many such words, it leaves their bits set. Stops of a full build are
// exact. Repaired ones include all there must be and may include former ones: a jump that stops without need
// looks around, finds nothing and goes on, which costs time but gives the same answer. On grids of up to 2^22
// cells they are built anew when repairs have cost about eight times as much as a build.
//
// The index costs half a byte a cell. Thread safety: immutable.
class DiagonalJumpIndex {
 public:
  // Builds the index in time proportional to the cells of the grid: about 2 ns a cell. The result is
  // undefined once `cancelled` is set.
  DiagonalJumpIndex(const WalkCells& grid, CornerRule rule, CancelFlag cancelled = nullptr);
  // Repairs `before`, the index of `old`, into that of `now`, which `changes` made from `old`. The time is
  // proportional to the changes and the length of the runs that end there. `cancelled` is as above.
  DiagonalJumpIndex(const DiagonalJumpIndex& before, const WalkCells& old, const WalkCells& now,
                    absl::Span<const WordChange> changes, CancelFlag cancelled = nullptr);

  // Returns how many steps a diagonal jump from a cell takes until it must stop; a first step that is not
  // legal stops it after one. REQUIRES: the cell is on the map; kDirection is diagonal.
  template <Direction kDirection>
  int StepsToStop(Cell from) const {
    const int diagonal = DiagonalOf(kDirection, from);
    if constexpr (kSteps[static_cast<std::size_t>(kDirection)].y > 0) {
      const int first = from.y + 2;
      int block = first / kWordBits;
      Word stops = StopsIn<kDirection>(from, diagonal, block) & ~Word{0} << (first % kWordBits);
      while (stops == 0) {
        stops = StopsIn<kDirection>(from, diagonal, ++block);
      }
      return block * kWordBits + std::countr_zero(stops) - (from.y + 1);
    } else {
      const int first = from.y;
      int block = first / kWordBits;
      Word stops =
          StopsIn<kDirection>(from, diagonal, block) & ~Word{0} >> (kWordBits - 1 - first % kWordBits);
      while (stops == 0) {
        stops = StopsIn<kDirection>(from, diagonal, --block);
      }
      return from.y + 1 - (block * kWordBits + kWordBits - 1 - std::countl_zero(stops));
    }
  }

  // Returns about how many bytes the index of a grid of that many cells takes.
  static constexpr std::size_t BytesFor(std::size_t cells) { return cells / 2; }
  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Returns the bytes held that `other`, if it is not null, does not hold.
  std::size_t BytesBeyond(const DiagonalJumpIndex* other) const;

 private:
  class Builder;
  class Repairer;

  // Turns the bits of `old` into those of `now`.
  void Repair(const DiagonalJumpIndex& before, const WalkCells& old, const WalkCells& now,
              absl::Span<const WordChange> changes, CancelFlag cancelled);

  // A diagonal that leaves the map at one side comes in again at the other, past one column off the map that
  // stops it: `wrap_` diagonals of one bit a row hold them all. Those of one direction run along x - y, those
  // across it along x + y.
  int DiagonalOf(Direction direction, Cell cell) const {
    const bool falls = direction == Direction::kSouthEast || direction == Direction::kNorthWest;
    int diagonal = falls ? cell.x - cell.y : cell.x + cell.y;
    if (static_cast<unsigned>(diagonal) >= static_cast<unsigned>(wrap_)) {
      diagonal = (diagonal % wrap_ + wrap_) % wrap_;
    }
    return diagonal;
  }

  // The row of words_, and the place in it, of 64 cells of a diagonal: those whose y + 1 is in the block.
  // Words of one block lie together, so that a change along a row stays in few bands.
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

  // Returns 64 cells of the diagonal through a cell.
  template <Direction kDirection>
  Word StopsIn(Cell cell, int diagonal, int block) const {
    const Word stops = *At(kDirection, diagonal, block);
    return whole_words_ == 0 ? stops : stops | WholeWords<kDirection>(cell, block);
  }

  // Returns those of its cells that lie in words which RunEnds calls whole.
  template <Direction kDirection>
  Word WholeWords(Cell cell, int block) const {
    constexpr Cell kStep = kSteps[static_cast<std::size_t>(kDirection)];
    constexpr Sense kAcross = kStep.x > 0 ? Sense::kForward : Sense::kBackward;
    constexpr Sense kUpright = kStep.y > 0 ? Sense::kForward : Sense::kBackward;
    constexpr bool kFalls = kStep.x == kStep.y;
    // The lowest x + 1 of the diagonal in the block, which passes at most two words of a row.
    const int lowest = kFalls ? cell.x - cell.y + block * kWordBits
                              : cell.x + cell.y + 2 - block * kWordBits - (kWordBits - 1);
    const int place = lowest >> 6;
    const int shift = lowest & (kWordBits - 1);
    const Word* across = rows_.Whole(kAcross, block, place);
    if constexpr (kFalls) {
      const Word low = *columns_.Whole(kUpright, place, block);
      const Word high = *columns_.Whole(kUpright, place + 1, block);
      return (((across[0] ^ across[1]) & ~Word{0} >> shift) ^ across[1]) | low >> shift |
             high << 1 << (kWordBits - 1 - shift);
    } else {
      const Word low = *columns_.WholeReversed(kUpright, place, block);
      const Word high = *columns_.WholeReversed(kUpright, place + 1, block);
      return (((across[0] ^ across[1]) & ~Word{0} << shift) ^ across[1]) | low << shift |
             high >> 1 >> (kWordBits - 1 - shift);
    }
  }

  static constexpr int kSegmentShift = 8;
  // A changed cell touches a few words of each direction, so small bands keep the copies small.
  static constexpr std::size_t kBandBytes = std::size_t{1} << kSegmentShift << 3;

  CornerRule rule_;
  int wrap_;
  int segments_;
  int blocks_;
  // Bit (y + 1) % 64 of a word is the cell in row y. The bits of cells off the map are set.
  Plane<Word> words_;
  RunEnds rows_;
  RunEnds columns_;
  // How many words were repaired since the last full build.
  std::size_t repaired_words_ = 0;
  // How many whole words rows_ and columns_ hold.
  std::int64_t whole_words_ = 0;
};

}  // namespace waystar::core
