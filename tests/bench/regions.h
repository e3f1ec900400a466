// Which cells of a map reach each other, by flooding it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::bench {

// Cells joined by straight steps: without corner cutting a diagonal step joins no others.
class Regions {
 public:
  static constexpr std::int32_t kNone = -1;

  explicit Regions(const core::GridMap& map);

  // kNone for a cell that is not walkable. REQUIRES: the cell is on the map.
  std::int32_t Of(core::Cell cell) const {
    return of_[static_cast<std::size_t>(cell.y) * width_ + static_cast<std::size_t>(cell.x)];
  }

  std::size_t count() const { return cells_.size(); }
  // The region with the most cells. REQUIRES: count() > 0.
  std::int32_t Largest() const;
  // REQUIRES: 0 <= region < count().
  std::size_t CellsOf(std::int32_t region) const { return cells_[static_cast<std::size_t>(region)]; }

 private:
  void Flood(const core::GridMap& map, core::Cell start);

  std::size_t width_;
  std::vector<std::int32_t> of_;
  std::vector<std::size_t> cells_;
};

}  // namespace waystar::bench
