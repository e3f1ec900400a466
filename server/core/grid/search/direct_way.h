// Direct paths between two cells, as jumps make them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the cell where the diagonal run from `from` towards `to` turns into the straight run; may be either
// end.
inline Cell TurnTowards(Cell from, Cell to) {
  const int dx = to.x - from.x;
  const int dy = to.y - from.y;
  const int diagonal = std::min(std::abs(dx), std::abs(dy));
  return {from.x + diagonal * Sign(dx), from.y + diagonal * Sign(dy)};
}

// As above, for the direct path of that connectivity.
// REQUIRES: it is not kSix.
inline Cell TurnTowards(Connectivity connectivity, Cell from, Cell to) {
  return connectivity == Connectivity::kFour ? Cell{to.x, from.y} : TurnTowards(from, to);
}

// Returns true if every cell of a row or column from `from` to `to`, both included, is set.
inline bool IsRun(const Word* row, int from, int to) {
  return AreSet(row, std::min(from, to), std::max(from, to));
}

// Returns true if the diagonal step from `from` to the cell step_x to the right and step_y down is legal.
// REQUIRES: `from` is walkable.
inline bool MayStepDiagonally(const WalkCells& walk, CornerRule rule, Cell from, int step_x, int step_y) {
  const Word* row = walk.Row(from.y + step_y);
  return TestBit(row, from.x + step_x) &&
         MayPassCorner(rule, TestBit(walk.Row(from.y), from.x + step_x), TestBit(row, from.x));
}

// Returns true if a diagonal run followed by a straight run connects the cells by legal steps; on a
// 4-connected map, a horizontal run followed by a vertical one. No path is then cheaper.
// REQUIRES: both cells are walkable.
inline bool IsDirect(const WalkCells& walk, Connectivity connectivity, CornerRule rule, Cell from, Cell to) {
  if (connectivity == Connectivity::kFour) {
    return IsRun(walk.Row(from.y), from.x, to.x) && IsRun(walk.Column(to.x), from.y, to.y);
  }
  const int step_x = Sign(to.x - from.x);
  const int step_y = Sign(to.y - from.y);
  while (from.x != to.x && from.y != to.y) {
    if (!MayStepDiagonally(walk, rule, from, step_x, step_y)) {
      return false;
    }
    from = {from.x + step_x, from.y + step_y};
  }
  return from.y == to.y ? IsRun(walk.Row(from.y), from.x, to.x) : IsRun(walk.Column(from.x), from.y, to.y);
}

// IsDirect limited to diagonals of at most kLongest steps, because the diagonal is checked step by step.
inline bool IsDirectAndNear(const WalkCells& walk, Connectivity connectivity, CornerRule rule, Cell from,
                            Cell to) {
  constexpr int kLongest = 512;
  return std::min(std::abs(to.x - from.x), std::abs(to.y - from.y)) <= kLongest &&
         IsDirect(walk, connectivity, rule, from, to);
}

// Answers IsDirect from one cell to many. Each of the four diagonals is followed once, and only as far as
// needed.
//
// Not thread-safe.
class DirectView {
 public:
  // REQUIRES: the map is 4- or 8-connected; `from` is walkable. `walk` outlives this.
  DirectView(const WalkCells& walk, Connectivity connectivity, CornerRule rule, Cell from)
      : walk_(walk), connectivity_(connectivity), rule_(rule), from_(from) {}

  // Returns true if a direct path leads to the cell.
  // REQUIRES: the cell is walkable.
  bool Sees(Cell to) {
    if (connectivity_ == Connectivity::kFour) {
      return IsDirect(walk_, connectivity_, rule_, from_, to);
    }
    const int dx = to.x - from_.x;
    const int dy = to.y - from_.y;
    if (!HasDiagonal(dx, dy)) {
      return false;
    }
    const Cell turn = TurnTowards(from_, to);
    return std::abs(dx) > std::abs(dy) ? IsRun(walk_.Row(to.y), turn.x, to.x)
                                       : IsRun(walk_.Column(to.x), turn.y, to.y);
  }

  // Returns false if the first run that direct paths to all cells from `first` to `last` share is blocked.
  bool MaySee(Cell first, Cell last) {
    const int dx = std::clamp(0, first.x - from_.x, last.x - from_.x);
    const int dy = std::clamp(0, first.y - from_.y, last.y - from_.y);
    return connectivity_ == Connectivity::kFour ? IsRun(walk_.Row(from_.y), from_.x, from_.x + dx)
                                                : HasDiagonal(dx, dy);
  }

 private:
  struct Diagonal {
    int length = 0;
    bool is_blocked = false;
  };

  // Returns true if the diagonal run of a direct path to the cell dx to the right and dy down is free.
  bool HasDiagonal(int dx, int dy) {
    const int length = std::min(std::abs(dx), std::abs(dy));
    Diagonal& diagonal = diagonals_[(dx > 0 ? 1U : 0U) + (dy > 0 ? 2U : 0U)];
    const int step_x = dx > 0 ? 1 : -1;
    const int step_y = dy > 0 ? 1 : -1;
    while (diagonal.length < length && !diagonal.is_blocked) {
      const Cell at{from_.x + diagonal.length * step_x, from_.y + diagonal.length * step_y};
      diagonal.is_blocked = !MayStepDiagonally(walk_, rule_, at, step_x, step_y);
      diagonal.length += diagonal.is_blocked ? 0 : 1;
    }
    return diagonal.length >= length;
  }

  const WalkCells& walk_;
  const Connectivity connectivity_;
  const CornerRule rule_;
  const Cell from_;
  std::array<Diagonal, 4> diagonals_;
};

}  // namespace waystar::core
