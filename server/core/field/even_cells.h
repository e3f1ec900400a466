// Cells amid cells of one cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

// For each cell of a region whether steps into it cost the same as those into each of the eight around it
// from which steps lead.
//
// Thread safety: const methods may run beside each other.
class EvenCells {
 public:
  // Given the legal steps out of each cell, and a number below 255 for the costs of steps into it, row by
  // row. Memory is reused. Costs a nanosecond a cell. REQUIRES: as many of both, a multiple of the width.
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
  // Above, at and below the row that is looked at.
  std::array<Row, 3> rows_;
  // Of single cells, with one more before the first and behind the last.
  Row single_;
};

}  // namespace waystar::core
