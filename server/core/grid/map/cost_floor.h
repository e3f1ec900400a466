// Lower bounds on the costs of steps, apart from a few small places that are much cheaper than the rest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Ground without obstacles on which all steps cost the same. Number is Cost, or double for reported costs.
template <typename Number>
struct OpenGround {
  Number straight = 0;
  // Cost of a diagonal step, or of the two straight steps that replace it: between lower left and upper right
  // (rising), and between upper left and lower right (falling).
  Number rising = 0;
  Number falling = 0;

  friend bool operator==(const OpenGround&, const OpenGround&) = default;

  static OpenGround Of(Connectivity connectivity, Cost straight, Cost diagonal) {
    const auto one = static_cast<Number>(straight);
    const auto across = static_cast<Number>(diagonal);
    switch (connectivity) {
      case Connectivity::kFour:
        return {one, 2 * one, 2 * one};
      case Connectivity::kEight:
        return {one, across, across};
      case Connectivity::kSix:
        return {one, one, 2 * one};
    }
    return {};
  }
  // Returns open ground with the map's minimum step costs.
  static OpenGround Of(const GridMap& map) {
    return Of(map.settings().connectivity, map.min_straight(), map.min_diagonal());
  }

  // Returns the cost of a path to the cell dx to the right and dy down.
  Number CostOf(int dx, int dy) const {
    const auto across = static_cast<Number>(std::abs(dx));
    const auto along = static_cast<Number>(std::abs(dy));
    return ((dx ^ dy) < 0 ? rising : falling) * std::min(across, along) + straight * std::abs(across - along);
  }

  // Returns a lower bound on the cost of paths between a cell and `area`. It is consistent: a step changes it
  // by at most the step's cost.
  // REQUIRES: `area` is not empty.
  Number CostTo(const Rectangle& area, Cell cell) const { return CostTo(area, {cell.x, cell.y, 1, 1}); }
  // As above, between two areas: a lower bound for every cell of `from`.
  Number CostTo(const Rectangle& area, const Rectangle& from) const {
    const int left = area.x - (from.x + from.width - 1);
    const int right = area.x + area.width - 1 - from.x;
    const int top = area.y - (from.y + from.height - 1);
    const int bottom = area.y + area.height - 1 - from.y;
    // On hexagons too, the pair of cells nearest along both axes is the nearest pair.
    return CostOf(std::clamp(0, left, right), std::clamp(0, top, bottom));
  }
};

// Lower bounds on the costs of a map's steps. A step costs at least as much as on `everywhere`. A step into a
// cell outside all `cheap` places costs at least as much as on `everywhere` plus `elsewhere`. With it, one
// cheap cell does not weaken the heuristic of the whole map.
struct CostFloor {
  // Maximum number of cheap places; a heuristic checks each of them for every cell.
  static constexpr std::size_t kMostPlaces = 8;
  // Maximum number of tiles that contain cheap places.
  static constexpr std::size_t kMostTiles = 32;

  OpenGround<Cost> everywhere;
  // Additional cost of steps outside cheap places; zero if there are none.
  OpenGround<Cost> elsewhere;
  std::vector<Rectangle> cheap;
  // True if the map has diagonal steps.
  bool has_diagonals = false;

  friend bool operator==(const CostFloor&, const CostFloor&) = default;

  // Computes the floor from the costs of a map's terrains, ignoring obstacles, and of cells with costs of
  // their own. Reads each row of TerrainTiles, and a few dozen tiles in detail.
  static CostFloor Of(const GridMap& map);
};

struct CostSurvey {
  CostFloor floor;
  // True if costs differ between most neighbouring cells and there are at least four costs, so that jumps are
  // short. Estimated from a sample.
  bool is_noise = false;

  // Computes the survey from each row of TerrainTiles and a number of cells that does not grow with the map.
  static CostSurvey Of(const GridMap& map);
  // Returns the approximate cost of Of, in cells read.
  static std::uint64_t WorkOn(const GridMap& map);
};

}  // namespace waystar::core
