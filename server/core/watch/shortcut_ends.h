// Ends of routes that are cheaper than open ground, and the distance to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "server/core/elements/portal.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/watch/cost_bound.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Ends of the open portals within a map, and the cheap areas of its CostFloor. Ignores direction and required
// tags of portals. A path that takes a shortcut passes two of these ends.
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

  // Adds the new cheap areas, rounded up in size so that an area that shifts a little is not new. Extra ends
  // only lower the bounds. Returns true if any was added.
  bool AddPlaces(const CostFloor& floor) {
    constexpr int kRounded = 8;
    bool has_added = false;
    for (const Rectangle& place : floor.cheap) {
      // The step into a cheap area is cheap too.
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

  // Returns the distance in cells from the area to the nearest end, the maximum over rows and columns;
  // kNoShortcut if there is none. A lower bound on any path. Linear in the number of ends.
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
