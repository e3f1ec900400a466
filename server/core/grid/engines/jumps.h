// Jumps of jump point search over 4- and 8-connected grids, and their selection for a map.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/jumps/straight_scan.h"
#include "server/core/grid/jumps/turn_jump_index.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Jumps on 4-connected grids; reports to `search` as EightConnectedJumps does. Among paths of equal cost, the
// one that starts along the row is kept: a vertical run turns only where a wall beside it ends, a horizontal
// one anywhere.
template <typename Search>
class FourConnectedJumps {
 public:
  // Without `stops` a jump looks around at every cell of a row. Adds to `spared` the number of vain
  // look-arounds that `stops` spare, or would spare.
  FourConnectedJumps(const GridMap& map, const WalkGrid& walk, const TurnJumpIndex* stops, Search& search,
                     std::int64_t& spared)
      : walk_(walk),
        stops_(stops),
        search_(search),
        spared_(spared),
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
    const int stop = Scan<kRule, kStep>(column, cell.y);
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
      // The first cell of the row after x that is not walkable or from which vertical jumps find something.
      const int stop = NextSetBit<kStep>(static_cast<unsigned>(x + 1 + kStep),
                                         [&](std::size_t i) { return turns[i] | ~walkable[i]; }) -
                       1;
      if ((goal_.x - x) * kStep > 0 && (stop - goal_.x) * kStep >= 0 && LooksAtGoal(cell, g)) {
        return;
      }
      if (stops_ != nullptr) {
        spared_ += std::abs(stop - x) - 1;
      }
      if (!TestBit(walkable, stop)) {
        return;
      }
      const Cost stop_g = g + straight_ * std::abs(stop - from);
      const bool sees_up = JumpVertically<-1>({stop, cell.y}, stop_g);
      const bool sees_down = JumpVertically<1>({stop, cell.y}, stop_g);
      spared_ += stops_ != nullptr || sees_up || sees_down ? 0 : 1;
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

  const WalkGrid& walk_;
  const TurnJumpIndex* stops_;
  Search& search_;
  std::int64_t& spared_;
  // Goal, or kNowhere, where no jump ends, if the goal is not walkable.
  const Cell goal_;
  const Cost straight_;
};

// Replaces a missing or lagging DiagonalJumpIndex: every cell of a diagonal looks around.
struct EveryCellStops {};

// Jumps from a cell in given directions. Reports what they find to `search` through its methods Reach(cell,
// g, onward), ReachGoal(g) and goal().
template <CornerRule kRule, typename Stops, typename Search>
class EightConnectedJumps {
 public:
  // Adds to `spared` the number of vain look-arounds on diagonals that an index spares, or would spare, less
  // that of its lookups, each of which takes about as long.
  EightConnectedJumps(const GridMap& map, const WalkGrid& walk, const Stops& stops, Search& search,
                      std::int64_t& spared)
      : walk_(walk),
        stops_(stops),
        search_(search),
        spared_(spared),
        goal_(walk_.IsWalkable(search.goal()) ? search.goal() : kNowhere),
        straight_(map.min_straight()),
        diagonal_(map.min_diagonal()) {}

  void operator()(Cell cell, Cost g, DirectionSet directions) {
    for (unsigned left = directions; left != 0; left &= left - 1) {
      switch (static_cast<Direction>(std::countr_zero(left))) {
        case Direction::kNorth:
          JumpStraight<false, -1>(ColumnLine(walk_, cell.x), cell, g);
          break;
        case Direction::kNorthEast:
          JumpDiagonally<1, -1>(cell, g);
          break;
        case Direction::kEast:
          JumpStraight<true, 1>(RowLine(walk_, cell.y), cell, g);
          break;
        case Direction::kSouthEast:
          JumpDiagonally<1, 1>(cell, g);
          break;
        case Direction::kSouth:
          JumpStraight<false, 1>(ColumnLine(walk_, cell.x), cell, g);
          break;
        case Direction::kSouthWest:
          JumpDiagonally<-1, 1>(cell, g);
          break;
        case Direction::kWest:
          JumpStraight<true, -1>(RowLine(walk_, cell.y), cell, g);
          break;
        case Direction::kNorthWest:
          JumpDiagonally<-1, -1>(cell, g);
          break;
      }
    }
  }

 private:
  // Returns true if a run from `from` that stops at `stop` passes `position` or ends there.
  template <int kStep>
  static bool Passes(int from, int stop, int position) {
    return kStep > 0 ? from < position && position <= stop : stop <= position && position < from;
  }

  // Jumps along a row or, unless kIsRow, a column. Returns true if the jump finds anything.
  template <bool kIsRow, int kStep>
  bool JumpStraight(const LineBits& line, Cell cell, Cost g) {
    const int from = kIsRow ? cell.x : cell.y;
    const int goal = kIsRow ? goal_.x : goal_.y;
    const int stop = Scan<kRule, kStep>(line, from);
    if ((kIsRow ? cell.y == goal_.y : cell.x == goal_.x) && Passes<kStep>(from, stop, goal)) {
      search_.ReachGoal(g + straight_ * std::abs(goal - from));
      return true;
    }
    const bool finds = TestBit(line.own, stop);
    if (finds) {
      constexpr Direction kArrival = DirectionOf(kIsRow ? Cell{kStep, 0} : Cell{0, kStep});
      const unsigned window = kIsRow ? WindowInRow(line, stop) : WindowInColumn(line, stop);
      search_.Reach(kIsRow ? Cell{stop, cell.y} : Cell{cell.x, stop}, g + straight_ * std::abs(stop - from),
                    kJumpDirections<kRule>.From(kArrival, window));
    }
    return finds;
  }

  // Makes a straight jump to both sides from each cell on the diagonal. These cells get no nodes: the parent
  // of what the jumps find is the diagonal's first cell.
  template <int kStepX, int kStepY>
  void JumpDiagonally(Cell cell, Cost g) {
    constexpr Direction kArrival = DirectionOf({kStepX, kStepY});
    constexpr auto kNatural =
        static_cast<DirectionSet>(SetOf(kArrival) | SetOf(Turned(kArrival, -1)) | SetOf(Turned(kArrival, 1)));
    LineBits row{};
    LineBits column{};
    if constexpr (kLooksAtEveryCell) {
      --spared_;
      row = RowLine(walk_, cell.y);
      column = ColumnLine(walk_, cell.x);
    }
    while (true) {
      if constexpr (kLooksAtEveryCell) {
        row = walk_.rows().template NextRows<kStepY>(cell.y, row);
        column = walk_.columns().template NextRows<kStepX>(cell.x, column);
        cell = {cell.x + kStepX, cell.y + kStepY};
        g += diagonal_;
        if (cell == goal_) {
          search_.ReachGoal(g);
          return;
        }
      } else {
        const int steps = stops_.template StepsToStop<kArrival>(cell);
        spared_ += steps - 2;
        if (LooksAtGoal<kStepX, kStepY>(cell, g, steps)) {
          return;
        }
        cell = {cell.x + steps * kStepX, cell.y + steps * kStepY};
        g += steps * diagonal_;
        row = RowLine(walk_, cell.y);
        column = ColumnLine(walk_, cell.x);
      }
      if (!TestBit(row.own, cell.x)) {
        return;
      }
      if constexpr (kRule != CornerRule::kNoCornerCutting) {
        const DirectionSet onward = kJumpDirections<kRule>.From(kArrival, WindowAround(walk_, cell));
        if ((onward & ~kNatural) != 0) {
          search_.Reach(cell, g, onward);
          return;
        }
      }
      const bool is_free_across = TestBit(row.own, cell.x + kStepX);
      const bool is_free_upright = TestBit(column.own, cell.y + kStepY);
      const bool sees_across = is_free_across && JumpStraight<true, kStepX>(row, cell, g);
      const bool sees_upright = is_free_upright && JumpStraight<false, kStepY>(column, cell, g);
      if (!TestBit(kStepY > 0 ? row.high : row.low, cell.x + kStepX) ||
          !MayPassCorner(kRule, is_free_across, is_free_upright)) {
        return;
      }
      if constexpr (kLooksAtEveryCell) {
        spared_ += sees_across || sees_upright ? -1 : 1;
      }
    }
  }

  // Looks at the goal from the cell where a diagonal of `steps` from `cell` crosses the goal's row or column,
  // the only cell from which it can see the goal. Returns true if the goal lies on the diagonal. The last
  // cell is skipped: it always looks around.
  template <int kStepX, int kStepY>
  bool LooksAtGoal(Cell cell, Cost g, int steps) {
    const int across = (goal_.x - cell.x) * kStepX;
    const int along = (goal_.y - cell.y) * kStepY;
    const int crossing = std::min(across, along);
    if (crossing <= 0 || crossing > steps) {
      return false;
    }
    const Cell from{cell.x + crossing * kStepX, cell.y + crossing * kStepY};
    const Cost from_g = g + crossing * diagonal_;
    if (across == along) {
      search_.ReachGoal(from_g);
      return true;
    }
    if (crossing < steps) {
      if (across > along) {
        JumpStraight<true, kStepX>(RowLine(walk_, from.y), from, from_g);
      } else {
        JumpStraight<false, kStepY>(ColumnLine(walk_, from.x), from, from_g);
      }
    }
    return false;
  }

  static constexpr Cell kNowhere{-2, -2};
  static constexpr bool kLooksAtEveryCell = std::is_same_v<Stops, EveryCellStops>;

  const WalkGrid& walk_;
  const Stops& stops_;
  Search& search_;
  std::int64_t& spared_;
  // Goal, or kNowhere, where no jump ends, if the goal is not walkable.
  const Cell goal_;
  const Cost straight_;
  const Cost diagonal_;
};

template <CornerRule kRule, typename Search, typename Run>
auto RunWithEightConnectedJumps(const GridMap& map, const WalkGrid& walk, Search& search, Run run) {
  std::int64_t spared = 0;
  const auto run_with = [&](const auto& stops) {
    using Stops = std::remove_cvref_t<decltype(stops)>;
    using Jumps = EightConnectedJumps<kRule, Stops, Search>;
    const auto result = run(Jumps(map, walk, stops, search, spared));
    walk.RecordSpared(kRule, static_cast<std::uint64_t>(std::max<std::int64_t>(spared, 0)));
    return result;
  };
  if (const DiagonalJumpIndex* stops = walk.diagonal_jumps(kRule)) {
    return run_with(*stops);
  }
  return run_with(EveryCellStops());
}

// Returns the expanded jump point nearest to query.goal.
inline NearestCell NearestExpanded(const NodeTable& nodes, const PathQuery& query) {
  NearestCell nearest(query.start, query.goal);
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    if (nodes[i].done != 0) {
      nearest.Consider(Unpack(nodes[i].cell), nodes[i].g);
    }
  }
  return nearest;
}

// Returns run(jumps), where `jumps` follow directions by the corner rule and report to `search`; see
// EightConnectedJumps. Records with `walk` what its index spares.
// REQUIRES: the map is 4- or 8-connected.
template <typename Search, typename Run>
auto RunWithJumps(const GridMap& map, const WalkGrid& walk, CornerRule rule, Search& search, Run run) {
  if (map.settings().connectivity == Connectivity::kFour) {
    std::int64_t spared = 0;
    const auto result = run(FourConnectedJumps<Search>(map, walk, walk.turn_jumps(), search, spared));
    walk.RecordSparedTurns(static_cast<std::uint64_t>(spared));
    return result;
  }
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return RunWithEightConnectedJumps<CornerRule::kNoCornerCutting>(map, walk, search, run);
    case CornerRule::kOneSideFree:
      return RunWithEightConnectedJumps<CornerRule::kOneSideFree>(map, walk, search, run);
    case CornerRule::kAlways:
      break;
  }
  return RunWithEightConnectedJumps<CornerRule::kAlways>(map, walk, search, run);
}

}  // namespace waystar::core
