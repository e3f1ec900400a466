// Working memory of searches through portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/core/elements/portal.h"
#include "server/core/grid/cells/cost.h"
#include "server/core/portal/portal_net.h"
#include "server/geometry/cell.h"

namespace waystar::core {

using PortalCrossing = Crossing<Portal, Cell>;

inline constexpr std::uint32_t kNoDoor = std::numeric_limits<std::uint32_t>::max();

// Entry of the open list: a path to a door or a goal. The cost of the walk from the previous door is exact or
// a lower bound.
struct PortalEntry {
  Cost f = 0;
  Cost g = 0;
  bool is_exact = false;
  // Previous door; kNoDoor means the start.
  std::uint32_t from = kNoDoor;
  // A door, or a goal numbered after the last door.
  std::uint32_t to = 0;

  // Smaller f first, then exact costs before bounds, then larger g, then a fixed order.
  bool Precedes(const PortalEntry& other) const {
    if (f != other.f) {
      return f < other.f;
    }
    if (is_exact != other.is_exact) {
      return is_exact;
    }
    if (g != other.g) {
      return g > other.g;
    }
    return to != other.to ? to < other.to : from + 1 < other.from + 1;
  }
};

struct PortalScratch {
  std::vector<PortalEntry> open;
  std::vector<Cell> points;
  std::vector<Direction> directions;
  std::vector<PortalCrossing> crossings;

  std::size_t memory_bytes() const {
    return open.capacity() * sizeof(open[0]) + points.capacity() * sizeof(points[0]) +
           directions.capacity() * sizeof(directions[0]) + crossings.capacity() * sizeof(crossings[0]);
  }

  void Clear() {
    open.clear();
    points.clear();
    directions.clear();
    crossings.clear();
  }
};

}  // namespace waystar::core
