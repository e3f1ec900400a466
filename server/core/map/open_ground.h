// Lower bounds on the cost of ways over open ground.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Ground without obstacles on which all steps cost the same. Number is Cost, or double for costs as they are
// reported.
template <typename Number>
struct OpenGround {
  Number straight = 0;
  // The cost of a diagonal step, or of the two straight ones to the same cell where there is none: between
  // the lower left and the upper right (rising), and between the upper left and the lower right (falling).
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
  // Returns ground as cheap as the cheapest of the map.
  static OpenGround Of(const GridMap& map) {
    return Of(map.settings().connectivity, map.min_straight(), map.min_diagonal());
  }

  // Returns the cost of a way to the cell that lies dx to the right and dy down.
  Number CostOf(int dx, int dy) const {
    const auto across = static_cast<Number>(std::abs(dx));
    const auto along = static_cast<Number>(std::abs(dy));
    return ((dx ^ dy) < 0 ? rising : falling) * std::min(across, along) + straight * std::abs(across - along);
  }

  // Returns a bound on the cost of the ways from a cell to one of `area`, or back. A step changes it by no
  // more than the step costs. REQUIRES: `area` is not empty.
  Number CostTo(const Rectangle& area, Cell cell) const { return CostTo(area, {cell.x, cell.y, 1, 1}); }
  // As above, for ways between two areas: the bound of no cell of `from` is less.
  Number CostTo(const Rectangle& area, const Rectangle& from) const {
    const int left = area.x - (from.x + from.width - 1);
    const int right = area.x + area.width - 1 - from.x;
    const int top = area.y - (from.y + from.height - 1);
    const int bottom = area.y + area.height - 1 - from.y;
    // On hexagons too, no pair of cells is nearer than the one that is nearest along both axes.
    return CostOf(std::clamp(0, left, right), std::clamp(0, top, bottom));
  }
};

}  // namespace waystar::core
