// The cells that are surrounded by cells of the same cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

// Tells, for each cell of a region, whether steps into it cost the same as those into each of the eight
// around it from which steps lead.
//
// Thread safety: const methods may run beside each other.
class EvenCells {
 public:
  // Finds the cells, given the legal steps out of each cell, and a number below 255 for the costs of steps
  // into it, row by row. Memory is reused. It costs a nanosecond a cell. REQUIRES: both lists have the same
  // size, a multiple of the width.
  void Find(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers, std::size_t width);

  bool Test(std::size_t index) const { return (bits_[index / kWordBits] >> (index % kWordBits) & 1U) != 0; }

  std::size_t memory_bytes() const { return bits_.capacity() * sizeof(Word); }

 private:
  // The least and the highest number of each cell and those beside it.
  struct Row {
    std::vector<std::uint8_t> least;
    std::vector<std::uint8_t> highest;
  };

  void ReadRow(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers, Row& row);

  std::vector<Word> bits_;
  // The rows above, at and below the current row.
  std::array<Row, 3> rows_;
  // Values of single cells, with one more before the first and behind the last.
  Row single_;
};

}  // namespace waystar::core
