// Lower bounds on the cost of ways over open ground.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "server/core/grid/cost.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// The bounds by the cheapest cells of a map. Number is Cost, or double for costs as they are reported.
template <typename Number>
struct OpenGround {
  Number straight = 0;
  // The cost of a diagonal step, or of the two straight ones to the same cell where there is none: between
  // the lower left and the upper right (rising), and between the upper left and the lower right (falling).
  Number rising = 0;
  Number falling = 0;

  static OpenGround Of(const GridMap& map) {
    const auto straight = static_cast<Number>(map.min_straight());
    const auto diagonal = static_cast<Number>(map.min_diagonal());
    switch (map.settings().connectivity) {
      case Connectivity::kFour:
        return {straight, 2 * straight, 2 * straight};
      case Connectivity::kEight:
        return {straight, diagonal, diagonal};
      case Connectivity::kSix:
        return {straight, straight, 2 * straight};
    }
    return {};
  }

  // Returns the cost of a way to the cell that lies dx to the right and dy down.
  Number CostOf(int dx, int dy) const {
    const auto across = static_cast<Number>(std::abs(dx));
    const auto along = static_cast<Number>(std::abs(dy));
    return ((dx ^ dy) < 0 ? rising : falling) * std::min(across, along) + straight * std::abs(across - along);
  }
};

}  // namespace waystar::core
