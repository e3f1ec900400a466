// Sense of a flood, from or to its seeds, and the choice between a flood and searches.
#pragma once

#include <cstdint>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

enum class FloodSense : std::uint8_t {
  // Costs of paths from the seeds to each cell.
  kFromSeeds,
  // Costs of paths from each cell to the seeds. These differ from kFromSeeds where cells differ in cost,
  // because a step costs what the entered cell costs, and where portals are one-way.
  kToSeeds,
};

// Returns true if a flood of the map is faster than searches that make that many expansions. A jump takes as
// long as 10 flooded cells, or 40 where costs differ; a step of A* as long as 4.
inline bool IsFloodQuicker(const GridMap& map, int footprint, std::uint64_t expansions) {
  const Connectivity connectivity = map.settings().connectivity;
  const bool has_jumps = map.HasUniformCost() && connectivity != Connectivity::kSix;
  const bool has_weighted_jumps =
      !map.HasUniformCost() && connectivity == Connectivity::kEight && footprint == 1;
  const std::uint64_t cells_each = has_jumps ? 10 : has_weighted_jumps ? 40 : 4;
  return expansions * cells_each > static_cast<std::uint64_t>(map.walkable_cells());
}

}  // namespace waystar::core
