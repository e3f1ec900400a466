// Lower bounds that rule out that a change makes a path cheaper than the known one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Least cost per unit of travel over open ground of a map, in reported units.
struct LeastCosts : OpenGround<double> {
  Lattice lattice = Lattice::kSquare;

  // For paths through any cell.
  static LeastCosts Of(const GridMap& map) { return Of(OpenGround<Cost>::Of(map), map.lattice()); }
  // For paths that avoid the cheap areas of the map's CostFloor.
  static LeastCosts BetweenCheapPlaces(const GridMap& map) {
    const CostFloor& floor = map.cost_floor();
    OpenGround<Cost> ground = floor.everywhere;
    ground.straight += floor.elsewhere.straight;
    ground.rising += floor.elsewhere.rising;
    ground.falling += floor.elsewhere.falling;
    return Of(ground, map.lattice());
  }

  bool IsBelow(const LeastCosts& other) const {
    return straight < other.straight || rising < other.rising || falling < other.falling;
  }
  void Lower(const LeastCosts& other) {
    straight = std::min(straight, other.straight);
    rising = std::min(rising, other.rising);
    falling = std::min(falling, other.falling);
  }

 private:
  static LeastCosts Of(const OpenGround<Cost>& ground, Lattice lattice) {
    return {{CostToDouble(ground.straight), CostToDouble(ground.rising), CostToDouble(ground.falling)},
            lattice};
  }
};

// The gap if there are no shortcuts.
inline constexpr double kNoShortcut = std::numeric_limits<double>::infinity();

// Lower bound on the cost of paths that answer one query: a path through a cell costs at least what open
// ground of the cheapest kind costs from the start to the cell and on to the goal.
struct CostBound {
  Cell start;
  Cell goal;
  // Only paths below this cost are cheaper. If it is at most 0, no path can be.
  double limit = 0.0;
  // True if paths are straight lines at any angle, not steps.
  bool is_lines = false;
  // True if a path may end at any cell.
  bool is_open = false;
  int footprint = 1;
  // True if cells beside the path matter too, for diagonal steps past them or lines that touch them.
  bool passes_corners = false;
  // Distances of start and goal from the nearest shortcut end; see ShortcutEnds.
  double start_gap = kNoShortcut;
  double goal_gap = kNoShortcut;

  // Returns the least cost of advancing by one cell along a row, a column, or both.
  double UnitOf(const LeastCosts& least) const {
    return is_lines && least.lattice == Lattice::kHexagonal ? std::sqrt(0.75) * least.straight
                                                            : least.straight;
  }

  // Returns the agent positions whose moves or costs may change when some of `cells` change.
  Rectangle Reach(const Rectangle& cells) const {
    const int after = passes_corners ? 1 : 0;
    const int before = footprint - 1 + after;
    return {cells.x - before, cells.y - before, cells.width + before + after, cells.height + before + after};
  }

  // Returns true if a change of some of these cells may make a path cheaper than `limit`. May return true
  // when none is cheaper, but never false when one is. `gap` is a lower bound on the distance from the cells
  // to the nearest shortcut end.
  // REQUIRES: `cells` is not empty.
  bool MayBeCheaperBy(const Rectangle& cells, const LeastCosts& least, double gap) const {
    const Rectangle area = Reach(cells);
    const double to = CostTo(start, area, least);
    const double from = CostFrom(area, least);
    return to + from < limit || MayBeCheaperByShortcut(to, from, least, gap);
  }

  // As above for one cell, with a tighter bound.
  bool MayBeCheaperBy(Cell cell, const LeastCosts& least, double gap) const {
    constexpr int kLargest = 4;
    const Rectangle cells{cell.x, cell.y, 1, 1};
    if (!MayBeCheaperBy(cells, least, gap)) {
      return false;
    }
    const Rectangle area = Reach(cells);
    if (is_lines || footprint > kLargest ||
        MayBeCheaperByShortcut(CostTo(start, area, least), CostFrom(area, least), least, gap)) {
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

  // Returns true if no change can make a path cheaper.
  bool IsTight(const LeastCosts& least) const {
    return limit <= 0.0 || (!is_open && limit <= CostTo(start, {goal.x, goal.y, 1, 1}, least) &&
                            !(UnitOf(least) * (start_gap + goal_gap) < limit));
  }

 private:
  // As MayBeCheaperBy, for paths that use a shortcut. `to` and `from` are lower bounds on the cost from the
  // start to the cells and from the cells to the goal without shortcuts.
  bool MayBeCheaperByShortcut(double to, double from, const LeastCosts& least, double gap) const {
    if (gap == kNoShortcut) {
      return false;
    }
    const double unit = UnitOf(least);
    const double near = std::max(0.0, gap - footprint);
    return std::min(to, unit * (start_gap + near)) + std::min(from, unit * (goal_gap + near)) < limit;
  }

  // Returns true if a cheaper path may visit a position, or pass it by a diagonal step.
  bool MayBeCheaperPast(Cell at, const LeastCosts& least) const {
    if (CostOver(at, at, least) < limit) {
      return true;
    }
    for (std::size_t d = 0; passes_corners && d < kSteps.size(); d += 2) {
      const Cell one = {at.x + kSteps[d].x, at.y + kSteps[d].y};
      const Cell step = kSteps[(d + 2) % kSteps.size()];
      const Cell other = {at.x + step.x, at.y + step.y};
      const double left = limit - std::min(least.rising, least.falling);
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

  // Returns the least cost between a cell and the nearest cell of an area.
  double CostTo(Cell cell, const Rectangle& area, const LeastCosts& least) const {
    return is_lines ? least.straight * LengthOf(least.lattice, Gap(cell.x, area.x, area.width),
                                                Gap(cell.y, area.y, area.height))
                    : least.CostTo(area, cell);
  }

  // Returns the length of the shortest line that covers the offsets dx and dy.
  static double LengthOf(Lattice lattice, double dx, double dy) {
    if (lattice == Lattice::kHexagonal) {
      // The height of the rows in between; a lower bound wherever the line ends.
      return std::sqrt(0.75) * std::max(std::abs(dx), std::abs(dy));
    }
    return std::sqrt(dx * dx + dy * dy);
  }

  // Returns the distance from a coordinate to an interval; 0 if inside.
  static int Gap(std::int32_t from, std::int32_t first, std::int32_t count) {
    const std::int32_t last = first + count - 1;
    return from < first ? first - from : from > last ? last - from : 0;
  }
};

}  // namespace waystar::core
