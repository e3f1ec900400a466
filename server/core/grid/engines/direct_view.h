// Visibility from a cell along direct paths.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/search/direct_way.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Answers IsDirect from one cell to many. Each of the four diagonals is followed once, and only as far as
// needed.
//
// Not thread-safe.
class DirectView {
 public:
  // REQUIRES: the map is 4- or 8-connected; `from` is walkable. `walk` outlives this.
  DirectView(const WalkGrid& walk, Connectivity connectivity, CornerRule rule, Cell from)
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

  // Returns false if the first run of the direct paths to all cells from `first` to `last` is blocked.
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

  const WalkGrid& walk_;
  const Connectivity connectivity_;
  const CornerRule rule_;
  const Cell from_;
  std::array<Diagonal, 4> diagonals_;
};

}  // namespace waystar::core
