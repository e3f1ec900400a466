// Index of the cells at which diagonal jumps must stop.
#pragma once

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

// Two bits for each word of all rows or all columns of a grid, and for each sense:
//
// - beyond: a jump that leaves the word in that sense finds a jump point. Given this bit, what a jump finds
//   from a cell of the word depends on the word alone.
// - whole: all cells of the word find a jump point. They are recorded only here, not one by one.
//
// The bits of 64 lines form a word, so that a run across the map is a run of words here. A line is bit (line
// + 1) % 64 of line block (line + 1) / 64; places are indices of words in the line. There is one more, empty,
// block and place on both sides.
//
// Thread safety: const methods may run concurrently with each other and with a RunEndsWriter of another copy.
class RunEnds {
 public:
  RunEnds() = default;
  RunEnds(int lines, int length)
      : stride_(static_cast<std::size_t>(WordsPerRow(length)) + 2),
        plane_(WordsPerRow(lines) + 2, std::vector<Word>(kSections * stride_, 0), 1) {}

  // Returns the bits of 64 lines from a place on.
  // REQUIRES: line_block and place are from -1 to their numbers.
  const Word* Whole(Sense sense, int line_block, int place) const {
    return At(kWhole, sense, line_block, place);
  }
  // As Whole, with the first line in the highest bit.
  const Word* WholeReversed(Sense sense, int line_block, int place) const {
    return At(kWholeReversed, sense, line_block, place);
  }

  bool IsWhole(Sense sense, int line, std::size_t place) const { return Test(kWhole, sense, line, place); }
  bool LeadsBeyond(Sense sense, int line, std::size_t place) const {
    return Test(kBeyond, sense, line, place);
  }

  const Plane<Word>& plane() const { return plane_; }

 private:
  friend class RunEndsWriter;

  static constexpr std::size_t kWhole = 0;
  static constexpr std::size_t kWholeReversed = 2;
  static constexpr std::size_t kBeyond = 4;
  static constexpr std::size_t kSections = 6;

  std::size_t Offset(std::size_t section, Sense sense) const {
    return (section + static_cast<std::size_t>(sense)) * stride_ + 1;
  }
  const Word* At(std::size_t section, Sense sense, int line_block, int place) const {
    return plane_.row(line_block + 1) + Offset(section, sense) + place;
  }
  bool Test(std::size_t section, Sense sense, int line, std::size_t place) const {
    const auto bit = static_cast<unsigned>(line + 1);
    const Word word = At(section, sense, static_cast<int>(bit / kWordBits), 0)[place];
    return (word >> (bit % kWordBits) & 1U) != 0;
  }

  std::size_t stride_ = 0;
  Plane<Word> plane_;
};

// Writer for one RunEnds. Not thread-safe.
class RunEndsWriter {
 public:
  explicit RunEndsWriter(RunEnds& ends) : ends_(ends), writer_(ends.plane_) {}

  void FlipWhole(Sense sense, int line, std::size_t place) {
    Flip(RunEnds::kWhole, sense, line, place, BitOf(line));
    Flip(RunEnds::kWholeReversed, sense, line, place, kWordBits - 1 - BitOf(line));
  }
  void FlipBeyond(Sense sense, int line, std::size_t place) {
    Flip(RunEnds::kBeyond, sense, line, place, BitOf(line));
  }

 private:
  static unsigned BitOf(int line) { return static_cast<unsigned>(line + 1) % kWordBits; }

  void Flip(std::size_t section, Sense sense, int line, std::size_t place, unsigned bit) {
    writer_.row((line + 1) / kWordBits + 1)[ends_.Offset(section, sense) + place] ^= Word{1} << bit;
  }

  RunEnds& ends_;
  PlaneWriter<Word> writer_;
};

// One bit per cell and diagonal direction. It is set if a jump in that direction must stop at the cell: the
// next step is not legal, the cell is a jump point, or a straight jump from it to one of the two sides finds
// a jump point. Diagonal jumps can then scan 64 cells per instruction.
//
// JPS+ (Harabor, Grastien, "Improving Jump Point Search", 2014) stores the distance to the next stop instead;
// one changed cell can change tens of thousands of distances. A stop depends on only two straight runs, so a
// changed cell changes the bits of the few runs that pass it.
//
// The runs may cross the map, and bits that are adjacent along diagonals are scattered along a run. A
// repair therefore records a word of a row or column whose 64 cells all start to find a jump point as one bit
// (RunEnds). Where all cells stop finding one in many words, it leaves their bits set. Stops of a full build
// are exact. Repaired stops include all necessary ones and may include obsolete ones: a jump that stops
// unnecessarily finds nothing and continues, which costs time but does not change the result. Grids of up to
// 2^22 cells are rebuilt once repairs have cost about eight times as much as a build.
//
// The index takes half a byte per cell.
//
// Thread safety: immutable.
class DiagonalJumpIndex {
 public:
  // Builds the index in about 2 ns per cell. The result is undefined once `cancelled` is set.
  DiagonalJumpIndex(const WalkCells& grid, CornerRule rule, CancelFlag cancelled = nullptr);
  // Repairs `before`, the index of `old`, into the index of `now`, which `changes` made from `old`. Time is
  // proportional to the changes and the length of the runs that end there. `cancelled` is as above.
  DiagonalJumpIndex(const DiagonalJumpIndex& before, const WalkCells& old, const WalkCells& now,
                    absl::Span<const WordChange> changes, CancelFlag cancelled = nullptr);

  // Returns the number of steps of a diagonal jump from a cell until it must stop; 1 if the first step is not
  // legal.
  // REQUIRES: the cell is on the map; kDirection is diagonal.
  template <Direction kDirection>
  int StepsToStop(Cell from) const {
    const int diagonal = DiagonalOf(kDirection, from);
    constexpr int kStep = kSteps[static_cast<std::size_t>(kDirection)].y;
    const int stop = NextSetBit<kStep>(static_cast<unsigned>(from.y + 1 + kStep), [&](std::size_t block) {
      return StopsIn<kDirection>(from, diagonal, static_cast<int>(block));
    });
    return std::abs(stop - (from.y + 1));
  }

  // Returns the approximate size in bytes of the index of a grid of that many cells.
  static constexpr std::size_t BytesFor(std::size_t cells) { return cells / 2; }
  std::size_t memory_bytes() const { return BytesBeyond(nullptr); }
  // Returns the bytes held by this and not by `other`, which may be null.
  std::size_t BytesBeyond(const DiagonalJumpIndex* other) const;

 private:
  class Builder;
  class Repairer;

  // Updates the bits from those of `old` to those of `now`.
  void Repair(const DiagonalJumpIndex& before, const WalkCells& old, const WalkCells& now,
              absl::Span<const WordChange> changes, CancelFlag cancelled);

  // Diagonals wrap around: one that leaves the map at one side continues at the other, after a column outside
  // the map that stops it. `wrap_` diagonals with one bit per row therefore hold all cells. Those of one
  // direction run along x - y, those of the other along x + y.
  int DiagonalOf(Direction direction, Cell cell) const {
    const bool falls = direction == Direction::kSouthEast || direction == Direction::kNorthWest;
    int diagonal = falls ? cell.x - cell.y : cell.x + cell.y;
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

  // Returns the stops of 64 cells of the diagonal through a cell.
  template <Direction kDirection>
  Word StopsIn(Cell cell, int diagonal, int block) const {
    const Word stops = *At(kDirection, diagonal, block);
    return whole_words_ == 0 ? stops : stops | WholeWords<kDirection>(cell, block);
  }

  // Returns the cells of that word that lie in whole words of RunEnds.
  template <Direction kDirection>
  Word WholeWords(Cell cell, int block) const {
    constexpr Cell kStep = kSteps[static_cast<std::size_t>(kDirection)];
    constexpr Sense kAcross = kStep.x > 0 ? Sense::kForward : Sense::kBackward;
    constexpr Sense kUpright = kStep.y > 0 ? Sense::kForward : Sense::kBackward;
    constexpr bool kFalls = kStep.x == kStep.y;
    // Lowest x + 1 of the diagonal in the block. The diagonal passes at most two words of a row.
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
  // Size of a band; small, because a changed cell touches a few words per direction and each clones a band.
  static constexpr std::size_t kBandBytes = std::size_t{1} << kSegmentShift << 3;

  CornerRule rule_;
  int wrap_;
  int segments_;
  int blocks_;
  // Bit (y + 1) % 64 of a word is the cell in row y. Bits of cells outside the map are set.
  Plane<Word> words_;
  RunEnds rows_;
  RunEnds columns_;
  // Number of changed words repaired since the index was built.
  std::size_t repaired_words_ = 0;
  // Number of whole words in rows_ and columns_.
  std::int64_t whole_words_ = 0;
};

}  // namespace waystar::core
