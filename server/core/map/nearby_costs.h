// The costs of steps into a cell and the eight around it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "server/core/grid/cell.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// The costs of nine cells, by their terrain or their own. They are 0 where no agent may stand.
struct NearbyCosts {
  NearbyCosts() = default;
  // REQUIRES: map.Contains(cell).
  NearbyCosts(const GridMap& map, Cell cell) : centre(Of(map, cell)) {
    for (std::size_t d = 0; d < kDirectionCount; ++d) {
      around[d] = Of(map, Step(cell, static_cast<Direction>(d)));
    }
  }

  // Returns whether all nine are walkable and cost the same.
  bool IsUniform() const {
    return centre.straight != 0 && std::all_of(around.begin(), around.end(), [&](const auto& neighbour) {
             return neighbour.straight == centre.straight;
           });
  }

  // True if a walkable one of the nine has costs of its own.
  bool has_own = false;
  CellCosts::Entry centre;
  // The costs of the neighbours by Direction.
  std::array<CellCosts::Entry, kDirectionCount> around{};

 private:
  CellCosts::Entry Of(const GridMap& map, Cell cell) {
    if (!map.walk().IsWalkable(cell)) {
      return {};
    }
    const CellCosts::Entry own =
        map.cell_costs() == nullptr ? CellCosts::Entry{} : map.cell_costs()->At(cell);
    if (own.straight != 0) {
      has_own = true;
      return own;
    }
    const TerrainId terrain = map.TerrainAt(cell);
    return {map.step_costs().straight[terrain], map.step_costs().diagonal[terrain]};
  }
};

}  // namespace waystar::core
