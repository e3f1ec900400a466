// Where a diagonal jump has to look around.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/map/bit_plane.h"
#include "server/core/map/bit_row.h"
#include "server/core/map/cell.h"
#include "server/core/map/corner_rule.h"
#include "server/core/map/plane.h"

namespace waystar::core {

class WalkGrid;

// For each diagonal direction a bit a cell: set where a jump in that direction must stop, because the next
// step is not legal, or the cell is a jump point itself, or a straight jump from it to one of the two sides
// finds a jump point. A jump then takes 64 cells an instruction along a diagonal as well.
//
// JPS+ (Harabor, Grastien, "Improving Jump Point Search", 2014) keeps the distance to the next stop instead,
// of which one changed cell can change tens of thousands. A stop depends on two straight runs only, so that a
// changed cell changes the bits of the few runs that pass it.
//
// Costs half a byte a cell. Thread safety: immutable.
class DiagonalStops {
 public:
  // In time proportional to the cells of the grid: about 2 ns a cell.
  DiagonalStops(const WalkGrid& grid, CornerRule rule);
  // Of `now`, which `changes` made from `old`, whose stops are `before`. In proportion to the changes and the
  // length of the runs that end there.
  DiagonalStops(const DiagonalStops& before, const WalkGrid& old, const WalkGrid& now,
                absl::Span<const WordChange> changes);

  // How many steps a diagonal jump from a cell takes until it must stop. A first step that is not legal stops
  // it after one. REQUIRES: the cell is on the map; kDirection is diagonal.
  template <Direction kDirection>
  int StepsToStop(Cell from) const {
    const int diagonal = DiagonalOf(kDirection, from);
    if constexpr (kSteps[static_cast<std::size_t>(kDirection)].y > 0) {
      const int first = from.y + 2;
      int block = first / kWordBits;
      Word stops = *At(kDirection, diagonal, block) & ~Word{0} << (first % kWordBits);
      while (stops == 0) {
        stops = *At(kDirection, diagonal, ++block);
      }
      return block * kWordBits + std::countr_zero(stops) - (from.y + 1);
    } else {
      const int first = from.y;
      int block = first / kWordBits;
      Word stops = *At(kDirection, diagonal, block) & ~Word{0} >> (kWordBits - 1 - first % kWordBits);
      while (stops == 0) {
        stops = *At(kDirection, diagonal, --block);
      }
      return from.y + 1 - (block * kWordBits + kWordBits - 1 - std::countl_zero(stops));
    }
  }

  // About what a grid of so many cells costs.
  static constexpr std::size_t BytesFor(std::size_t cells) { return cells / 2; }
  std::size_t memory_bytes() const { return words_.memory_bytes(); }

  // Bit by bit the same.
  friend bool operator==(const DiagonalStops& a, const DiagonalStops& b);

 private:
  class Builder;
  class Repairer;

  // A diagonal leaves the map at one side and comes in again at the other, past one column off the map that
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

  // The row of words_ and the place in it for 64 cells of a diagonal: those whose y + 1 is in the block.
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

  static constexpr int kSegmentShift = 9;
  // A changed run along a column touches a few words of each block it passes: a small band keeps the copies
  // small.
  static constexpr std::size_t kBandBytes = std::size_t{1} << kSegmentShift << 3;

  CornerRule rule_;
  int height_;
  int wrap_;
  int segments_;
  int blocks_;
  // Bit (y + 1) % 64 of a word is the cell in row y. Those off the map are set.
  Plane<Word> words_;
};

}  // namespace waystar::core
