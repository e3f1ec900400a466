// Boxes of space.
#pragma once

#include <algorithm>
#include <limits>

#include "server/geometry/world_point.h"

namespace waystar::core {

// Axis-aligned box in space, including its faces. Initially empty.
struct MeshBounds {
  WorldPoint low = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                    std::numeric_limits<double>::infinity()};
  WorldPoint high = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()};

  void Add(const WorldPoint& point) {
    low = {std::min(low.x, point.x), std::min(low.y, point.y), std::min(low.z, point.z)};
    high = {std::max(high.x, point.x), std::max(high.y, point.y), std::max(high.z, point.z)};
  }
  void Add(const MeshBounds& other) {
    Add(other.low);
    Add(other.high);
  }

  friend bool operator==(const MeshBounds&, const MeshBounds&) = default;
};

}  // namespace waystar::core
