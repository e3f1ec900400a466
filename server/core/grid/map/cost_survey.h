// Statistics of the step costs of a map.
#pragma once

#include <cstdint>

#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

struct CostSurvey {
  CostFloor floor;
  // True if costs differ between most neighbouring cells and there are at least four costs, so that jumps are
  // short. Estimated from a sample.
  bool is_noise = false;

  // Reads each row of TerrainTiles, and a number of cells that does not grow with the map.
  static CostSurvey Of(const GridMap& map);
  // Returns the approximate cost of Of, in cells read.
  static std::uint64_t WorkOn(const GridMap& map);
};

}  // namespace waystar::core
