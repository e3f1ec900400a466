// What steps into the cells of a region cost, in a byte a cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Cells whose costs are alike have the same number. Floods read it much quicker than the costs themselves.
//
// Thread safety: const methods may run beside each other.
class CostNumbers {
 public:
  static constexpr std::size_t kMost = 255;

  // By the terrains of the map, row by row from the region's upper left cell. Memory is reused. Costs half a
  // nanosecond a cell. REQUIRES: the region is on the map; no cell has costs of its own.
  void ReadTerrains(const GridMap& map, const Rectangle& region);
  // Those of such a list. False, and none are left, if there are more than kMost. Costs some nanoseconds a
  // cell.
  bool ReadEntries(absl::Span<const CellCosts::Entry> entering);
  void Clear();

  bool empty() const { return numbers_.empty(); }
  absl::Span<const std::uint8_t> numbers() const { return numbers_; }
  // By number.
  absl::Span<const CellCosts::Entry> costs() const { return costs_; }

  std::size_t memory_bytes() const {
    return numbers_.capacity() + costs_.capacity() * sizeof(CellCosts::Entry);
  }

 private:
  // That of a cost, which gets one if it has none.
  std::size_t NumberOf(const CellCosts::Entry& cost);

  std::vector<std::uint8_t> numbers_;
  std::vector<CellCosts::Entry> costs_;
};

}  // namespace waystar::core
