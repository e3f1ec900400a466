// Lookup tables of the legal steps out of a cell, indexed by the nine cells around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the walkable cells among the nine around a cell, itself included. Bit 3 * row + column stands for a
// cell; bit 0 is the upper left one.
// REQUIRES: the cell is on the map.
inline unsigned WindowAround(const WalkCells& walk, Cell cell) {
  const unsigned above = ThreeBits(walk.Row(cell.y - 1), cell.x);
  const unsigned beside = ThreeBits(walk.Row(cell.y), cell.x);
  const unsigned below = ThreeBits(walk.Row(cell.y + 1), cell.x);
  return above | beside << 3 | below << 6;
}

// Each window mirrored at the main diagonal, so that bit 3 * column + row stands for a cell.
constexpr std::array<std::uint16_t, 512> kMirroredWindows = [] {
  std::array<std::uint16_t, 512> mirrored{};
  for (unsigned window = 0; window < 512; ++window) {
    unsigned bits = 0;
    for (unsigned bit = 0; bit < 9; ++bit) {
      bits |= (window >> bit & 1U) << (bit % 3 * 3 + bit / 3);
    }
    mirrored[window] = static_cast<std::uint16_t>(bits);
  }
  return mirrored;
}();

// Returns true if the cell at that offset from the middle of a window is walkable.
constexpr bool IsFree(unsigned window, Cell offset) {
  return (window >> (3 * (offset.y + 1) + offset.x + 1) & 1U) != 0;
}

// Table of the legal steps out of a walkable cell under one corner rule and connectivity.
//
// Thread safety: immutable.
class GridMoves {
 public:
  constexpr GridMoves(Connectivity connectivity, CornerRule rule) {
    for (unsigned window = 0; window < table_.size(); ++window) {
      table_[window] = MovesIn(window, connectivity, rule);
    }
  }

  // REQUIRES: the cell is on the map.
  DirectionSet From(const WalkCells& walk, Cell cell) const { return table_[WindowAround(walk, cell)]; }

  // Returns the shared table of a connectivity and rule.
  static const GridMoves& For(Connectivity connectivity, CornerRule rule);

  // Returns the legal steps out of the middle of a window.
  static constexpr DirectionSet MovesIn(unsigned window, Connectivity connectivity, CornerRule rule) {
    unsigned moves = 0;
    for (unsigned d = 0; d < kDirectionCount; ++d) {
      const Cell step = kSteps[d];
      bool legal = IsFree(window, step);
      if (IsDiagonal(static_cast<Direction>(d))) {
        const bool may_pass = MayPassCorner(rule, IsFree(window, {step.x, 0}), IsFree(window, {0, step.y}));
        legal = legal && (connectivity == Connectivity::kEight ? may_pass
                          : connectivity == Connectivity::kSix ? step.x != step.y
                                                               : false);
      }
      moves |= (legal ? 1U : 0U) << d;
    }
    return static_cast<DirectionSet>(moves);
  }

 private:
  std::array<DirectionSet, 512> table_{};
};

inline const GridMoves& GridMoves::For(Connectivity connectivity, CornerRule rule) {
  static constexpr GridMoves kFourConnected(Connectivity::kFour, CornerRule::kNoCornerCutting);
  static constexpr GridMoves kSixConnected(Connectivity::kSix, CornerRule::kNoCornerCutting);
  static constexpr std::array<GridMoves, kCornerRuleCount> kEightConnected = {
      GridMoves(Connectivity::kEight, CornerRule::kNoCornerCutting),
      GridMoves(Connectivity::kEight, CornerRule::kOneSideFree),
      GridMoves(Connectivity::kEight, CornerRule::kAlways)};
  return connectivity == Connectivity::kFour  ? kFourConnected
         : connectivity == Connectivity::kSix ? kSixConnected
                                              : kEightConnected[static_cast<std::size_t>(rule)];
}

// Table of the steps that a search must follow out of a cell of an 8-connected grid, by the direction of
// arrival. Among paths of equal cost, those with their diagonal steps first are kept; every pruned step leads
// to a cell that is reached at the same cost without it. Natural and forced neighbours: Harabor, Grastien,
// "Online Graph Pruning for Pathfinding on Grid Maps" (2011); without corner cutting: their "Improving Jump
// Point Search" (2014).
//
// Thread safety: immutable.
template <CornerRule kRule>
class JumpDirections {
 public:
  constexpr JumpDirections() {
    for (unsigned d = 0; d < kDirectionCount; ++d) {
      for (unsigned window = 0; window < 512; ++window) {
        table_[d][window] = Pruned(static_cast<Direction>(d), window);
      }
    }
  }

  // REQUIRES: `window` is WindowAround a walkable cell that was entered by a step in direction `arrival`.
  DirectionSet From(Direction arrival, unsigned window) const {
    return table_[static_cast<std::size_t>(arrival)][window];
  }

 private:
  static constexpr DirectionSet Pruned(Direction arrival, unsigned window) {
    const auto is_free = [&](int turn) {
      return IsFree(window, kSteps[static_cast<std::size_t>(Turned(arrival, turn))]);
    };
    const DirectionSet legal = GridMoves::MovesIn(window, Connectivity::kEight, kRule);
    unsigned wanted = SetOf(arrival);
    if (IsDiagonal(arrival)) {
      wanted |= SetOf(Turned(arrival, -1)) | SetOf(Turned(arrival, 1));
      for (const int side : {-1, 1}) {
        // This cell lies beside the diagonal step just made; if blocked, it forces the step round it.
        if (!is_free(3 * side)) {
          wanted |= SetOf(Turned(arrival, 2 * side));
        }
      }
    } else {
      for (const int side : {-1, 1}) {
        if constexpr (kRule == CornerRule::kNoCornerCutting) {
          if (!is_free(3 * side)) {
            wanted |= SetOf(Turned(arrival, side)) | SetOf(Turned(arrival, 2 * side));
          }
        } else if (!is_free(2 * side)) {
          wanted |= SetOf(Turned(arrival, side));
        }
      }
    }
    return static_cast<DirectionSet>(wanted & legal);
  }

  std::array<std::array<DirectionSet, 512>, kDirectionCount> table_{};
};

template <CornerRule kRule>
inline constexpr JumpDirections<kRule> kJumpDirections{};

}  // namespace waystar::core
