// Where the portals of a map begin and end, and how near they are.
#pragma once

#include <algorithm>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/watch/cost_bound.h"

namespace waystar::core {

// The ends of the portals within a map that are open. Whatever else an agent has to have to pass one, and
// whichever way it leads, a path that takes a portal passes two of them.
class PortalEnds {
 public:
  PortalEnds() = default;
  static PortalEnds Of(const GridMap& map) {
    PortalEnds ends;
    map.portals().VisitAfter("", [&](const Portal& portal) {
      if (!portal.closed && portal.to_map.empty()) {
        ends.cells_.insert(ends.cells_.end(), {portal.from, portal.to});
      }
      return true;
    });
    return ends;
  }

  bool empty() const { return cells_.empty(); }

  // Returns how many cells the area is away from the nearest end, along rows or columns, whichever is more;
  // kNoPortals if there is none. No path is shorter. It costs a look at each end.
  double GapTo(const Rectangle& area) const {
    double gap = kNoPortals;
    for (const Cell cell : cells_) {
      const int across = std::max({area.x - cell.x, cell.x - (area.x + area.width - 1), 0});
      const int along = std::max({area.y - cell.y, cell.y - (area.y + area.height - 1), 0});
      gap = std::min<double>(gap, std::max(across, along));
    }
    return gap;
  }
  double GapTo(Cell cell) const { return GapTo(Rectangle{cell.x, cell.y, 1, 1}); }

  friend bool operator==(const PortalEnds&, const PortalEnds&) = default;

 private:
  std::vector<Cell> cells_;
};

}  // namespace waystar::core
