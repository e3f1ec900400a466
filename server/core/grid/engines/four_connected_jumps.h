// Jumps over a 4-connected grid.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/cost.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/jumps/straight_scan.h"
#include "server/core/grid/jumps/turn_jump_index.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Follows directions, and reports to `search` as EightConnectedJumps does. Among paths of equal cost, the one
// that starts along the row is kept: a vertical run turns only where a wall beside it ends, a horizontal one
// anywhere.
template <typename Search>
class FourConnectedJumps {
 public:
  // Without `stops` a jump looks around at every cell of a row, and counts vain look-arounds in `in_vain`.
  FourConnectedJumps(const GridMap& map, const WalkGrid& walk, const TurnJumpIndex* stops, Search& search,
                     std::uint64_t& in_vain)
      : walk_(walk),
        stops_(stops),
        search_(search),
        in_vain_(in_vain),
        goal_(walk_.IsWalkable(search.goal()) ? search.goal() : kNowhere),
        straight_(map.min_straight()) {}

  void operator()(Cell cell, Cost g, DirectionSet directions) {
    for (unsigned left = directions; left != 0; left &= left - 1) {
      switch (static_cast<Direction>(std::countr_zero(left))) {
        case Direction::kNorth:
          JumpVertically<-1>(cell, g);
          break;
        case Direction::kEast:
          JumpHorizontally<1>(cell, g);
          break;
        case Direction::kSouth:
          JumpVertically<1>(cell, g);
          break;
        case Direction::kWest:
          JumpHorizontally<-1>(cell, g);
          break;
        default:
          break;
      }
    }
  }

 private:
  static constexpr CornerRule kRule = CornerRule::kNoCornerCutting;
  static constexpr Cell kNowhere{-2, -2};

  // Returns true if the jump finds anything.
  template <int kStep>
  bool JumpVertically(Cell cell, Cost g) {
    const LineBits column = ColumnLine(walk_, cell.x);
    const int stop = kStep > 0 ? ScanForward<kRule>(column, cell.y) : ScanBackward<kRule>(column, cell.y);
    if (cell.x == goal_.x && (goal_.y - cell.y) * kStep > 0 && (stop - goal_.y) * kStep >= 0) {
      search_.ReachGoal(g + straight_ * std::abs(goal_.y - cell.y));
      return true;
    }
    const bool finds = TestBit(column.own, stop);
    if (finds) {
      const auto turns = [&](const Word* side, Direction direction) {
        return TestBit(side, stop) && !TestBit(side, stop - kStep) ? SetOf(direction) : DirectionSet{0};
      };
      const DirectionSet onward = SetOf(kStep > 0 ? Direction::kSouth : Direction::kNorth) |
                                  turns(column.low, Direction::kWest) | turns(column.high, Direction::kEast);
      search_.Reach({cell.x, stop}, g + straight_ * std::abs(stop - cell.y), onward);
    }
    return finds;
  }

  // Jumps up and down from each stop along the row. The stops get no nodes: the parent of what the jumps find
  // is the run's first cell.
  template <int kStep>
  void JumpHorizontally(Cell cell, Cost g) {
    const Word* walkable = walk_.Row(cell.y);
    const Word* turns = stops_ != nullptr ? stops_->Row(cell.y) : walkable;
    const int from = cell.x;
    int x = from;
    while (true) {
      const int stop = NextStop<kStep>(walkable, turns, x);
      if ((goal_.x - x) * kStep > 0 && (stop - goal_.x) * kStep >= 0 && LooksAtGoal(cell, g)) {
        return;
      }
      if (!TestBit(walkable, stop)) {
        return;
      }
      const Cost stop_g = g + straight_ * std::abs(stop - from);
      const bool sees_up = JumpVertically<-1>({stop, cell.y}, stop_g);
      const bool sees_down = JumpVertically<1>({stop, cell.y}, stop_g);
      in_vain_ += stops_ != nullptr || sees_up || sees_down ? 0 : 1;
      x = stop;
    }
  }

  // Looks at the goal from the cell where a run along the row of `cell` reaches the goal's column. Returns
  // true if the goal lies on the row itself.
  bool LooksAtGoal(Cell cell, Cost g) {
    const Cell crossing{goal_.x, cell.y};
    if (!walk_.IsWalkable(crossing)) {
      return false;
    }
    const Cost crossing_g = g + straight_ * std::abs(goal_.x - cell.x);
    if (crossing == goal_) {
      search_.ReachGoal(crossing_g);
      return true;
    }
    if (goal_.y < cell.y) {
      JumpVertically<-1>(crossing, crossing_g);
    } else {
      JumpVertically<1>(crossing, crossing_g);
    }
    return false;
  }

  // Returns the first cell of the row after x that is not walkable or from which vertical jumps find
  // something.
  template <int kStep>
  static int NextStop(const Word* walkable, const Word* turns, int x) {
    const auto first_bit = static_cast<unsigned>(x + 1 + kStep);
    std::size_t i = first_bit / kWordBits;
    const Word mask =
        kStep > 0 ? ~Word{0} << (first_bit % kWordBits) : ~Word{0} >> (kWordBits - 1 - first_bit % kWordBits);
    Word stops = (turns[i] | ~walkable[i]) & mask;
    while (stops == 0) {
      i += static_cast<std::size_t>(kStep);
      stops = turns[i] | ~walkable[i];
    }
    const int bit = kStep > 0 ? std::countr_zero(stops) : kWordBits - 1 - std::countl_zero(stops);
    return static_cast<int>(i) * kWordBits + bit - 1;
  }

  const WalkGrid& walk_;
  const TurnJumpIndex* stops_;
  Search& search_;
  std::uint64_t& in_vain_;
  // If the goal is not walkable, a cell where no jump can end.
  const Cell goal_;
  const Cost straight_;
};

}  // namespace waystar::core
