// Step costs of a region's cells, encoded as one byte per cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
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

}  // namespace waystar::core
