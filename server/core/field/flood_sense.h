// The sense of a flood, from its seeds or to them, and the choice between a flood and searches.
#pragma once

#include <cstdint>

#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

enum class FloodSense : std::uint8_t {
  // The flood finds the costs of going from the seeds to each cell.
  kFromSeeds,
  // The flood finds the costs of going from each cell to the seeds. Steps pay for the cell they enter, so
  // that where cells differ in cost the way back costs something else than the way there; and portals may
  // lead one way.
  kToSeeds,
};

// Returns whether a flood of the map takes less time than searches on it that make so many expansions. A jump
// takes as long as 10 cells of a flood, or 40 where cells differ in cost; a step of A* takes as long as 4.
inline bool IsFloodQuicker(const GridMap& map, int footprint, std::uint64_t expansions) {
  const Connectivity connectivity = map.settings().connectivity;
  const bool has_jumps = map.HasUniformCost() && connectivity != Connectivity::kSix;
  const bool has_weighted_jumps =
      !map.HasUniformCost() && connectivity == Connectivity::kEight && footprint == 1;
  const std::uint64_t cells_each = has_jumps ? 10 : has_weighted_jumps ? 40 : 4;
  return expansions * cells_each > static_cast<std::uint64_t>(map.walkable_cells());
}

}  // namespace waystar::core
