// Lower bounds on the costs of steps, apart from a few small places that are much cheaper than the rest.
#pragma once

#include <cstddef>
#include <vector>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/map/open_ground.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Lower bounds on the costs of a map's steps. A step costs at least as much as on `everywhere`. A step into a
// cell outside all `cheap` places costs at least as much as on `everywhere` plus `elsewhere`. With it, one
// cheap cell does not weaken the heuristic of the whole map.
struct CostFloor {
  // Maximum number of cheap places; a heuristic checks each of them for every cell.
  static constexpr std::size_t kMostPlaces = 8;
  // Maximum number of tiles that contain cheap places.
  static constexpr std::size_t kMostTiles = 32;

  OpenGround<Cost> everywhere;
  // Zero if there are no cheap places.
  OpenGround<Cost> elsewhere;
  std::vector<Rectangle> cheap;
  // True if the map has diagonal steps.
  bool has_diagonals = false;

  friend bool operator==(const CostFloor&, const CostFloor&) = default;

  // Computes the floor from the costs of a map's terrains, ignoring obstacles, and of cells with costs of
  // their own. Reads each row of TerrainTiles, and a few dozen tiles in detail.
  static CostFloor Of(const GridMap& map);
};

}  // namespace waystar::core
