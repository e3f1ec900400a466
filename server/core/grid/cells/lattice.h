// Lattice of a map's cells: squares or hexagons.
//
// Hexagons have axial coordinates: the neighbours of (x, y) are (x + 1, y), (x - 1, y), (x, y + 1), (x, y -
// 1), (x + 1, y - 1) and (x - 1, y + 1), in either orientation. A plane of hexagons is therefore a plane of
// squares with two of the four diagonal steps.
#pragma once

#include <cstdint>

#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

enum class Lattice : std::uint8_t { kSquare, kHexagonal };

constexpr Lattice LatticeOf(Connectivity connectivity) {
  return connectivity == Connectivity::kSix ? Lattice::kHexagonal : Lattice::kSquare;
}

// Returns the squared distance between the centres of two cells that lie (dx, dy) apart, in units of the
// distance between two neighbours. Exact for all map sizes.
constexpr std::int64_t SquaredLength(Lattice lattice, std::int64_t dx, std::int64_t dy) {
  return dx * dx + dy * dy + (lattice == Lattice::kHexagonal ? dx * dy : 0);
}

constexpr std::int64_t SquaredDistance(Lattice lattice, Cell a, Cell b) {
  return SquaredLength(lattice, a.x - b.x, a.y - b.y);
}

}  // namespace waystar::core
