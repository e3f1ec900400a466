// Step costs of a region's cells, encoded as one byte per cell; and the cells among others of the same cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Numbers the distinct costs of cells. Floods read one-byte numbers faster than costs.
//
// Thread safety: const methods may run concurrently.
class CostNumbers {
 public:
  static constexpr std::size_t kMost = 255;

  // Numbers the terrains of the region's cells in row-major order; reuses memory. Costs half a nanosecond per
  // cell.
  // REQUIRES: the region is on the map; no cell has costs of its own.
  void ReadTerrains(const GridMap& map, const Rectangle& region);
  // Numbers a list of costs. Returns false, and is empty, if there are more than kMost distinct ones. Costs
  // several nanoseconds per cell.
  bool ReadEntries(absl::Span<const CellCosts::Entry> entering);
  void Clear();

  bool empty() const { return numbers_.empty(); }
  absl::Span<const std::uint8_t> numbers() const { return numbers_; }
  // Returns the costs by number.
  absl::Span<const CellCosts::Entry> costs() const { return costs_; }

  std::size_t memory_bytes() const {
    return numbers_.capacity() + costs_.capacity() * sizeof(CellCosts::Entry);
  }

 private:
  // Returns the number of a cost; assigns one if it has none.
  std::size_t NumberOf(const CellCosts::Entry& cost);

  std::vector<std::uint8_t> numbers_;
  std::vector<CellCosts::Entry> costs_;
};

// Set of the cells of a region for which steps into the cell cost the same as steps into each of its eight
// neighbours that has legal steps.
//
// Thread safety: const methods may run concurrently.
class EvenCells {
 public:
  // Finds the cells. `moves` holds the legal steps out of each cell and `numbers` a number below 255 for the
  // cost of steps into it, both in row-major order. Reuses memory. Costs a nanosecond per cell.
  // REQUIRES: both lists have the same size, a multiple of `width`.
  void Find(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers, std::size_t width);

  bool Test(std::size_t index) const { return (bits_[index / kWordBits] >> (index % kWordBits) & 1U) != 0; }

  std::size_t memory_bytes() const { return bits_.capacity() * sizeof(Word); }

 private:
  // Minimum and maximum number of each cell and its neighbours in the row.
  struct Row {
    std::vector<std::uint8_t> least;
    std::vector<std::uint8_t> highest;
  };

  void ReadRow(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers, Row& row);

  std::vector<Word> bits_;
  // Rows above, at and below the current row.
  std::array<Row, 3> rows_;
  // Values of single cells, with one more before the first and after the last.
  Row single_;
};

}  // namespace waystar::core
