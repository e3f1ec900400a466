// Lower bounds on path costs, to prove that a change of a grid makes no path cheaper than the known one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Least cost per unit of travel over open ground of a map, in reported units.
struct LeastCosts : OpenGround<double> {
  Lattice lattice = Lattice::kSquare;

  // Returns true if some travel costs less than by `other`.
  bool IsBelow(const LeastCosts& other) const {
    return straight < other.straight || rising < other.rising || falling < other.falling;
  }

  // Returns the least costs of paths through any cell.
  static LeastCosts Of(const GridMap& map) { return Of(OpenGround<Cost>::Of(map), map.lattice()); }
  // Returns the least costs of paths that avoid the cheap areas of the map's CostFloor.
  static LeastCosts BetweenCheapPlaces(const GridMap& map) {
    const CostFloor& floor = map.cost_floor();
    OpenGround<Cost> ground = floor.everywhere;
    ground.straight += floor.elsewhere.straight;
    ground.rising += floor.elsewhere.rising;
    ground.falling += floor.elsewhere.falling;
    return Of(ground, map.lattice());
  }

 private:
  static LeastCosts Of(const OpenGround<Cost>& ground, Lattice lattice) {
    return {{CostToDouble(ground.straight), CostToDouble(ground.rising), CostToDouble(ground.falling)},
            lattice};
  }
};

// Ends of shortcuts, the ground where a path may cost less than open ground: the open portals within a map,
// and the cheap areas of its CostFloor. Ignores direction and required tags of portals. A path that takes a
// shortcut passes two of these ends.
class ShortcutEnds {
 public:
  // The gap if there are no shortcuts.
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  ShortcutEnds() = default;
  explicit ShortcutEnds(const GridMap& map) {
    map.portals().VisitAfter("", [&](const Portal& portal) {
      if (!portal.closed && portal.to_map.empty()) {
        for (const Cell cell : {portal.from, portal.to}) {
          areas_.push_back({cell.x, cell.y, 1, 1});
        }
        has_portals_ = true;
      }
      return true;
    });
    for (const Rectangle& place : map.cost_floor().cheap) {
      // The step into a cheap area is cheap too.
      areas_.push_back({place.x - 1, place.y - 1, place.width + 2, place.height + 2});
    }
  }

  bool has_portals() const { return has_portals_; }
  bool empty() const { return areas_.empty(); }

  // Returns the distance in cells from the area to the nearest end, the maximum over rows and columns; kNone
  // if there is none. A lower bound on any path. Linear in the number of ends.
  double GapTo(const Rectangle& area) const {
    double gap = kNone;
    for (const Rectangle& end : areas_) {
      const int across = std::max({area.x - (end.x + end.width - 1), end.x - (area.x + area.width - 1), 0});
      const int along = std::max({area.y - (end.y + end.height - 1), end.y - (area.y + area.height - 1), 0});
      gap = std::min<double>(gap, std::max(across, along));
    }
    return gap;
  }

 private:
  std::vector<Rectangle> areas_;
  bool has_portals_ = false;
};

// Ground of a map after a change: lower bounds on the costs of paths.
struct Ground {
  LeastCosts least;
  const ShortcutEnds& shortcuts;
};

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
  // True if the rule of diagonal steps inspects the cells beside them.
  bool passes_corners = false;
  int footprint = 1;

  // Returns true if a change of some of these cells may make a path cheaper than `limit`. May return true
  // when none is cheaper, but never false when one is. `gap` is the distance from the cells to the nearest
  // shortcut end.
  // REQUIRES: `cells` is not empty.
  bool MayBeCheaperBy(const Rectangle& cells, const Ground& ground, double gap) const {
    const LeastCosts& least = ground.least;
    const double unit = UnitOf(least);
    const double below = limit + CornerCost(least);
    // A path to cells far from both ends covers that distance twice. This decides for most answers.
    const int across = std::max(std::min(start.x, goal.x) - (cells.x + cells.width - 1),
                                cells.x - std::max(start.x, goal.x));
    const int along = std::max(std::min(start.y, goal.y) - (cells.y + cells.height - 1),
                               cells.y - std::max(start.y, goal.y));
    const double away = std::min<double>(std::max(across, along), gap) - footprint;
    if (!is_open && 2 * unit * away >= below) {
      return false;
    }
    // Positions of an agent on the cells; lines may also touch the cells beside them.
    const int after = is_lines ? 1 : 0;
    const int before = footprint - 1 + after;
    const Rectangle area{cells.x - before, cells.y - before, cells.width + before + after,
                         cells.height + before + after};
    const double to = CostTo(start, area, least);
    const double from = is_open ? 0.0 : CostTo(goal, area, least);
    if (to + from < below && !IsTight(least)) {
      return true;
    }
    // A lower bound on the cost between the area and a shortcut end.
    const double near = unit * std::max(0.0, gap - footprint);
    if (gap == ShortcutEnds::kNone || limit <= 0.0 || !(std::min(to, near) + std::min(from, near) < below)) {
      return false;
    }
    const double first = unit * ground.shortcuts.GapTo({start.x, start.y, 1, 1});
    const double last = is_open ? 0.0 : unit * ground.shortcuts.GapTo({goal.x, goal.y, 1, 1});
    return first + last < limit && std::min(to, first + near) + std::min(from, last + near) < below;
  }

 private:
  // Returns the least cost of advancing by one cell along a row, a column, or both.
  double UnitOf(const LeastCosts& least) const {
    return is_lines && least.lattice == Lattice::kHexagonal
               ? std::sqrt(0.75) * least.straight
               : std::min({least.straight, least.rising, least.falling});
  }

  // Returns the most that a path saves by a diagonal step past a cell instead of two steps over the cell.
  double CornerCost(const LeastCosts& least) const {
    return passes_corners ? std::max(0.0, 2 * least.straight - std::min(least.rising, least.falling)) : 0.0;
  }

  // Returns true if no path without shortcuts is cheaper, whatever changes.
  bool IsTight(const LeastCosts& least) const {
    return limit <= 0.0 || (!is_open && limit <= CostTo(start, {goal.x, goal.y, 1, 1}, least));
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
