// Ends of runs: what a straight jump finds beyond each word of a row or column that it leaves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/plane.h"

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

}  // namespace waystar::core
