// The least that steps on a map cost, but for a few small places that are far cheaper than all else.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/open_ground.h"

namespace waystar::core {

// A step costs no less than on `everywhere`; one into a cell outside of all `cheap` places costs no less than
// on `everywhere` and on `elsewhere` together. So a heuristic need not count on a single cheap cell wherever
// it looks.
struct CostFloor {
  // A heuristic looks at so many for each cell that it is asked about.
  static constexpr std::size_t kMostPlaces = 8;
  // Cheap places lie in no more tiles than these.
  static constexpr std::size_t kMostTiles = 32;

  OpenGround<Cost> everywhere;
  // It costs nothing if there are no cheap places.
  OpenGround<Cost> elsewhere;
  std::vector<Rectangle> cheap;
  // Whether there are diagonal steps.
  bool has_diagonals = false;

  friend bool operator==(const CostFloor&, const CostFloor&) = default;

  // Finds them: costs of cells are those of a map's terrains, whatever lies on them, and of cells that have
  // costs of their own. It looks at rows of TerrainTiles, and closer at no more tiles than a few dozen.
  static CostFloor Of(const GridMap& map);
};

}  // namespace waystar::core
