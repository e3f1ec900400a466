// What is known of the costs of a map as a whole.
#pragma once

#include <cstdint>

#include "server/core/map/cost_floor.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

struct CostSurvey {
  CostFloor floor;
  // Whether costs change from nearly every cell to the next, so that jumps lead nowhere: cells of four costs
  // or more, and most neighbours differ. It is judged by a sample.
  bool is_noise = false;

  // It looks at single rows of TerrainTiles and at a number of cells that does not grow with the map.
  static CostSurvey Of(const GridMap& map);
  // Returns about how many looks at a cell it takes as long as.
  static std::uint64_t WorkOn(const GridMap& map);
};

}  // namespace waystar::core
