// Fast lookup of step costs for searches.
#pragma once

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// GridMap::StraightCost and DiagonalCost, specialized by whether the map has cells with costs of their own.
// Maps without such cells skip that lookup.
//
// REQUIRES: kHasOwnCosts == (map.cell_costs() != nullptr). The map outlives this.
template <bool kHasOwnCosts>
class StepCostLookup {
 public:
  explicit StepCostLookup(const GridMap& map)
      : map_(map), by_terrain_(map.step_costs()), own_(map.cell_costs()) {}

  // Return the cost of a step into the cell.
  // REQUIRES: the cell is on the map.
  Cost Straight(Cell entered) const {
    if constexpr (kHasOwnCosts) {
      if (const Cost own = own_->At(entered).straight; own != 0) {
        return own;
      }
    }
    return by_terrain_.straight[map_.TerrainAt(entered)];
  }
  Cost Diagonal(Cell entered) const {
    if constexpr (kHasOwnCosts) {
      if (const Cost own = own_->At(entered).diagonal; own != 0) {
        return own;
      }
    }
    return by_terrain_.diagonal[map_.TerrainAt(entered)];
  }

  // Returns the cost of a step in that direction.
  Cost Of(Direction direction, Cell entered) const {
    if constexpr (kHasOwnCosts) {
      if (const CellCosts::Entry own = own_->At(entered); own.straight != 0) {
        return IsDiagonal(direction) ? own.diagonal : own.straight;
      }
    }
    const TerrainId terrain = map_.TerrainAt(entered);
    return IsDiagonal(direction) ? by_terrain_.diagonal[terrain] : by_terrain_.straight[terrain];
  }

 private:
  const GridMap& map_;
  const StepCosts& by_terrain_;
  const CellCosts* own_;
};

}  // namespace waystar::core
