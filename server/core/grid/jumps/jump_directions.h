// Pruning rules of jump point search: the directions in which to continue from a jump point.
//
// Natural and forced neighbours: Harabor, Grastien, "Online Graph Pruning for Pathfinding on Grid Maps"
// (2011); without corner cutting: their "Improving Jump Point Search" (2014).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/walk_cells.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Table of the steps that a search must follow out of a cell of an 8-connected grid, by the direction of
// arrival. Among paths of equal cost, those with their diagonal steps first are kept; every pruned step leads
// to a cell that is reached at the same cost without it.
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
        // This cell was passed on the way and is adjacent to the origin of the step.
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
