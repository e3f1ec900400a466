// The step costs of a region's cells as numbers of one byte a cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Cells whose costs are alike have the same number. Floods read numbers quicker than costs.
//
// Thread safety: const methods may run beside each other.
class CostNumbers {
 public:
  static constexpr std::size_t kMost = 255;

  // Numbers the terrains of the map, row by row from the region's upper left cell. Memory is reused. It costs
  // half a nanosecond a cell. REQUIRES: the region is on the map; no cell has costs of its own.
  void ReadTerrains(const GridMap& map, const Rectangle& region);
  // Numbers a list of costs. Returns false, and leaves none, if there are more than kMost. It costs
  // nanoseconds a cell.
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
  // Returns the number of a cost, which gets one if it has none.
  std::size_t NumberOf(const CellCosts::Entry& cost);

  std::vector<std::uint8_t> numbers_;
  std::vector<CellCosts::Entry> costs_;
};

}  // namespace waystar::core
