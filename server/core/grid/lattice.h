// The lattice that the cells of a map form: squares or hexagons.
//
// Hexagons have axial coordinates: the six neighbours of (x, y) are (x + 1, y), (x - 1, y), (x, y + 1), (x, y
// - 1), (x + 1, y - 1) and (x - 1, y + 1), whichever way they are turned. So a plane of hexagons is a plane
// of squares of which two corners out of four count as sides.
#pragma once

#include <cstdint>

#include "server/core/grid/cell.h"
#include "server/core/grid/grid_settings.h"

namespace waystar::core {

enum class Lattice : std::uint8_t { kSquare, kHexagonal };

constexpr Lattice LatticeOf(Connectivity connectivity) {
  return connectivity == Connectivity::kSix ? Lattice::kHexagonal : Lattice::kSquare;
}

// Returns the square of the distance between the centres of two cells that lie (dx, dy) apart, in units of
// the distance between two neighbours. Maps are small enough for it to be exact.
constexpr std::int64_t SquaredLength(Lattice lattice, std::int64_t dx, std::int64_t dy) {
  return dx * dx + dy * dy + (lattice == Lattice::kHexagonal ? dx * dy : 0);
}

constexpr std::int64_t SquaredDistance(Lattice lattice, Cell a, Cell b) {
  return SquaredLength(lattice, a.x - b.x, a.y - b.y);
}

}  // namespace waystar::core
