// Table of the turns that a cheapest path can make at a cell.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>

#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Sector in which a cell lies as seen from another. Even values are twice a direction; odd values are the
// open sectors between two adjacent directions.
using Sector = std::uint8_t;
inline constexpr int kSectorCount = 2 * kDirectionCount;
inline constexpr int kSectorBits = 4;
inline constexpr std::uint32_t kSectorMask = kSectorCount - 1;

// Set of sectors: bit s stands for sector s.
using SectorSet = std::uint16_t;

// REQUIRES: from != to.
inline Sector SectorOf(Cell from, Cell to) {
  const int dx = to.x - from.x;
  const int dy = to.y - from.y;
  const auto diagonal_or_straight = [](Cell step) {
    return static_cast<Sector>(2 * static_cast<int>(DirectionOf(step)));
  };
  if (dx == 0 || dy == 0 || std::abs(dx) == std::abs(dy)) {
    return diagonal_or_straight({Sign(dx), Sign(dy)});
  }
  const Sector diagonal = diagonal_or_straight({Sign(dx), Sign(dy)});
  const Sector straight =
      std::abs(dx) > std::abs(dy) ? diagonal_or_straight({Sign(dx), 0}) : diagonal_or_straight({0, Sign(dy)});
  // The sector between north-west and north is the last one.
  return straight == (diagonal + 2) % kSectorCount
             ? static_cast<Sector>(diagonal + 1)
             : static_cast<Sector>((diagonal + kSectorCount - 1) % kSectorCount);
}

// Walkable neighbours of a walkable cell: bit d is set if the neighbour in Direction d is walkable.
using NeighbourBits = std::uint8_t;

// Set of the taut turns at each kind of cell. A path enters and leaves the cell over open ground, where
// diagonal and straight steps may come in any order. If some order has a strictly cheaper detour around the
// cell through its eight neighbours, the path is on no cheapest path.
//
// Holds for CornerRule::kNoCornerCutting. Thread safety: immutable.
class TautTurns {
 public:
  // REQUIRES: 0 < straight <= diagonal <= 2 * straight.
  TautTurns(Cost straight, Cost diagonal);

  // Returns the sectors in which a path that comes from `from` may continue. The relation is symmetric.
  SectorSet Onward(NeighbourBits surroundings, Sector from) const { return table_[surroundings][from]; }

 private:
  std::array<std::array<SectorSet, kSectorCount>, 256> table_{};
};

}  // namespace waystar::core
