// Lower bounds that tell whether a change can make a path cheaper than the known one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/grid/lattice.h"
#include "server/core/map/cost_floor.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/open_ground.h"

namespace waystar::core {

// The least costs of ways over open ground of a map, as costs are reported.
struct LeastCosts : OpenGround<double> {
  Lattice lattice = Lattice::kSquare;

  // Of ways that may lead anywhere.
  static LeastCosts Of(const GridMap& map) { return Of(OpenGround<Cost>::Of(map), map.lattice()); }
  // Of ways that do not touch the cheap places of the map's CostFloor.
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

// The gap to shortcuts where there are none.
inline constexpr double kNoShortcut = std::numeric_limits<double>::infinity();

// A bound on the cost of the paths that answer one query: those that pass a cell cost at least what it takes
// to get there and on from there over open ground of the cheapest kind.
struct CostBound {
  Cell start;
  Cell goal;
  // Only paths below this cost are cheaper. At 0 or less none can be.
  double limit = 0.0;
  // Paths are straight lines of any angle, not steps.
  bool is_lines = false;
  // Paths may end anywhere.
  bool is_open = false;
  int footprint = 1;
  // A cell beside a position matters as well: for a diagonal step past it, or a line that touches it.
  bool passes_corners = false;
  // How far start and goal are from the nearest end of a shortcut: see ShortcutEnds.
  double start_gap = kNoShortcut;
  double goal_gap = kNoShortcut;

  // Returns the least cost of a way that leads one cell further along a row or a column, or along both.
  double UnitOf(const LeastCosts& least) const {
    return is_lines && least.lattice == Lattice::kHexagonal ? std::sqrt(0.75) * least.straight
                                                            : least.straight;
  }

  // Returns the positions where an agent can do what it could not before, or at another cost, once some of
  // these cells have changed.
  Rectangle Reach(const Rectangle& cells) const {
    const int after = passes_corners ? 1 : 0;
    const int before = footprint - 1 + after;
    return {cells.x - before, cells.y - before, cells.width + before + after, cells.height + before + after};
  }

  // Returns whether a path that a change of some of these cells concerns may be cheaper than `limit`. It is
  // never false if there is one, but true for some others. `gap` is how far they are from the nearest end of
  // a shortcut, or less. REQUIRES: `cells` is not empty.
  bool MayBeCheaperBy(const Rectangle& cells, const LeastCosts& least, double gap) const {
    const Rectangle area = Reach(cells);
    const double to = CostTo(start, area, least);
    const double from = CostFrom(area, least);
    return to + from < limit || MayBeCheaperByShortcut(to, from, least, gap);
  }

  // As above for one cell, more exactly.
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

  // Returns whether no change at all can make a path cheaper.
  bool IsTight(const LeastCosts& least) const {
    return limit <= 0.0 || (!is_open && limit <= CostTo(start, {goal.x, goal.y, 1, 1}, least) &&
                            !(UnitOf(least) * (start_gap + goal_gap) < limit));
  }

 private:
  // As MayBeCheaperBy for paths that take a shortcut. It costs at least `to` to come to the cells without
  // one, and `from` to go on.
  bool MayBeCheaperByShortcut(double to, double from, const LeastCosts& least, double gap) const {
    if (gap == kNoShortcut) {
      return false;
    }
    const double unit = UnitOf(least);
    const double near = std::max(0.0, gap - footprint);
    return std::min(to, unit * (start_gap + near)) + std::min(from, unit * (goal_gap + near)) < limit;
  }

  // Returns whether such a path may enter or leave a position, or pass it by a diagonal step.
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

  // Returns the cost between a cell and the nearest of an area.
  double CostTo(Cell cell, const Rectangle& area, const LeastCosts& least) const {
    return is_lines ? least.straight * LengthOf(least.lattice, Gap(cell.x, area.x, area.width),
                                                Gap(cell.y, area.y, area.height))
                    : least.CostTo(area, cell);
  }

  // Returns the length of the shortest line into an area that lies dx to the right and dy down.
  static double LengthOf(Lattice lattice, double dx, double dy) {
    if (lattice == Lattice::kHexagonal) {
      // This is the height of the rows, wherever the line ends.
      return std::sqrt(0.75) * std::max(std::abs(dx), std::abs(dy));
    }
    return std::sqrt(dx * dx + dy * dy);
  }

  // Returns the distance from a coordinate to the nearest of an interval; 0 if it is inside.
  static int Gap(std::int32_t from, std::int32_t first, std::int32_t count) {
    const std::int32_t last = first + count - 1;
    return from < first ? first - from : from > last ? last - from : 0;
  }
};

}  // namespace waystar::core
