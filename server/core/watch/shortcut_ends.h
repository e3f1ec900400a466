// Where ways begin and end that cost less than those over open ground, and how near they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/map/cost_floor.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/watch/cost_bound.h"

namespace waystar::core {

// The ends of the portals within a map that are open, and the cheap places of its CostFloor. Whatever else an
// agent has to have to pass a portal, and whichever way it leads, a path that takes one passes two of them.
class ShortcutEnds {
 public:
  ShortcutEnds() = default;
  static ShortcutEnds OfPortals(const GridMap& map) {
    ShortcutEnds ends;
    map.portals().VisitAfter("", [&](const Portal& portal) {
      if (!portal.closed && portal.to_map.empty()) {
        for (const Cell cell : {portal.from, portal.to}) {
          ends.areas_.push_back({cell.x, cell.y, 1, 1});
        }
      }
      return true;
    });
    return ends;
  }

  static ShortcutEnds Of(const GridMap& map) {
    ShortcutEnds ends = OfPortals(map);
    ends.AddPlaces(map.cost_floor());
    return ends;
  }

  // Adds the cheap places that are not there yet, as areas somewhat larger: a place that moves a little
  // leaves them as they are. More ends than there are only make bounds lower. Returns whether any was added.
  bool AddPlaces(const CostFloor& floor) {
    constexpr int kRounded = 8;
    bool has_added = false;
    for (const Rectangle& place : floor.cheap) {
      // The step into a place is a cheap one.
      const int left = (place.x - 1) & -kRounded;
      const int top = (place.y - 1) & -kRounded;
      const int right = (place.x + place.width + kRounded) & -kRounded;
      const int bottom = (place.y + place.height + kRounded) & -kRounded;
      const Rectangle area{left, top, right - left, bottom - top};
      if (std::none_of(areas_.begin(), areas_.end(),
                       [&](const Rectangle& other) { return Intersect(other, area) == area; })) {
        areas_.push_back(area);
        has_added = true;
      }
    }
    return has_added;
  }

  std::size_t size() const { return areas_.size(); }

  bool empty() const { return areas_.empty(); }

  // Returns how many cells the area is away from the nearest end, along rows or columns, whichever is more;
  // kNoShortcut if there is none. No path is shorter. It costs a look at each end.
  double GapTo(const Rectangle& area) const {
    double gap = kNoShortcut;
    for (const Rectangle& end : areas_) {
      const int across = std::max({area.x - (end.x + end.width - 1), end.x - (area.x + area.width - 1), 0});
      const int along = std::max({area.y - (end.y + end.height - 1), end.y - (area.y + area.height - 1), 0});
      gap = std::min<double>(gap, std::max(across, along));
    }
    return gap;
  }
  double GapTo(Cell cell) const { return GapTo(Rectangle{cell.x, cell.y, 1, 1}); }

  friend bool operator==(const ShortcutEnds&, const ShortcutEnds&) = default;

 private:
  std::vector<Rectangle> areas_;
};

}  // namespace waystar::core
