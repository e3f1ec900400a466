// Whether a change can make a path cheaper than the one that is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// What steps of a map cost at the least.
struct LeastCosts {
  double straight = 0.0;
  // On a 4-connected map, of the two steps that lead to the same cell.
  double diagonal = 0.0;

  static LeastCosts Of(const GridMap& map) {
    const double straight = CostToDouble(map.min_straight());
    const double diagonal = CostToDouble(map.min_diagonal());
    return {straight, map.settings().connectivity == Connectivity::kFour ? 2 * straight : diagonal};
  }
};

// What is known of the cost of the paths that answer one query: those that pass a cell cost at least what it
// takes to get there and on from there over open ground of the cheapest kind.
struct CostBound {
  Cell start;
  Cell goal;
  // Paths are cheaper only below this. 0 or less: none can be.
  double limit = 0.0;
  // Paths are straight lines of any angle, not steps.
  bool is_lines = false;
  // Paths may end anywhere.
  bool is_open = false;
  int footprint = 1;
  // A cell beside a position matters as well: for a diagonal step past it, or a line that touches it.
  bool passes_corners = false;

  // The positions where an agent can do what it could not before, or at another cost, once some of these
  // cells have changed.
  Rectangle Reach(const Rectangle& cells) const {
    const int after = passes_corners ? 1 : 0;
    const int before = footprint - 1 + after;
    return {cells.x - before, cells.y - before, cells.width + before + after, cells.height + before + after};
  }

  // Whether a path that a change of some of these cells concerns may be cheaper than `limit`. Never false if
  // there is one; true for some others. REQUIRES: `cells` is not empty.
  bool MayBeCheaperBy(const Rectangle& cells, const LeastCosts& least) const {
    const Rectangle area = Reach(cells);
    return CostTo(start, area, least) + CostFrom(area, least) < limit;
  }

  // The same for one cell, more exactly.
  bool MayBeCheaperBy(Cell cell, const LeastCosts& least) const {
    constexpr int kLargest = 4;
    if (!MayBeCheaperBy(Rectangle{cell.x, cell.y, 1, 1}, least)) {
      return false;
    }
    if (is_lines || footprint > kLargest) {
      return true;
    }
    for (int y = cell.y - footprint + 1; y <= cell.y; ++y) {
      for (int x = cell.x - footprint + 1; x <= cell.x; ++x) {
        if (MayBeCheaperPast({x, y}, least)) {
          return true;
        }
      }
    }
    return false;
  }

  // Whether no change at all can make a path cheaper.
  bool IsTight(const LeastCosts& least) const {
    return limit <= 0.0 || (!is_open && limit <= CostTo(start, {goal.x, goal.y, 1, 1}, least));
  }

 private:
  // Whether a path may be that enters or leaves a position, or takes a diagonal step between two beside it.
  bool MayBeCheaperPast(Cell at, const LeastCosts& least) const {
    if (CostOver(at, at, least) < limit) {
      return true;
    }
    for (std::size_t d = 0; passes_corners && d < kSteps.size(); d += 2) {
      const Cell one = {at.x + kSteps[d].x, at.y + kSteps[d].y};
      const Cell step = kSteps[(d + 2) % kSteps.size()];
      const Cell other = {at.x + step.x, at.y + step.y};
      const double left = limit - least.diagonal;
      if (CostOver(one, other, least) < left || CostOver(other, one, least) < left) {
        return true;
      }
    }
    return false;
  }

  double CostOver(Cell to, Cell from, const LeastCosts& least) const {
    return CostTo(start, {to.x, to.y, 1, 1}, least) + CostFrom({from.x, from.y, 1, 1}, least);
  }

  double CostFrom(const Rectangle& area, const LeastCosts& least) const {
    return is_open ? 0.0 : CostTo(goal, area, least);
  }

  // Between a cell and the nearest of an area.
  double CostTo(Cell cell, const Rectangle& area, const LeastCosts& least) const {
    const double dx = Distance(cell.x, area.x, area.width);
    const double dy = Distance(cell.y, area.y, area.height);
    if (is_lines) {
      return least.straight * std::sqrt(dx * dx + dy * dy);
    }
    return least.diagonal * std::min(dx, dy) + least.straight * std::abs(dx - dy);
  }

  static double Distance(std::int32_t from, std::int32_t first, std::int32_t count) {
    return std::max({first - from, 0, from - (first + count - 1)});
  }
};

}  // namespace waystar::core
