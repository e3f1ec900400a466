#include "server/core/grid/portal/portal_doors.h"

#include <algorithm>
#include <cstddef>

#include "server/core/elements/portal.h"
#include "server/core/grid/walk/walk_grid.h"

namespace waystar::core {

std::uint32_t PortalDoors::AddMap(absl::string_view id, const GridMap& map) {
  maps_.push_back({.id = id, .map = &map, .walk = map.walk(footprint_)});
  return static_cast<std::uint32_t>(maps_.size() - 1);
}

std::optional<std::uint32_t> PortalDoors::FindMap(absl::string_view id) {
  const auto [entry, is_new] = indexes_.try_emplace(id, std::uint32_t{0});
  if (is_new && id != kSameMap) {
    const GridMap* map = world_.Find(id);
    if (map == nullptr) {
      entry->second = std::nullopt;
    } else if (map != maps_[0].map) {
      entry->second = AddMap(id, *map);
    }
  }
  return entry->second;
}

bool PortalDoors::MayPass(const Portal& portal) const {
  return !portal.closed &&
         std::includes(portal.tags.begin(), portal.tags.end(), required_tags_.begin(), required_tags_.end());
}

void PortalDoors::FindDoors() {
  // Adds the maps that portals lead to, reachable or not, while iterating.
  for (std::uint32_t from_map = 0; from_map < maps_.size(); ++from_map) {
    maps_[from_map].map->portals().VisitAfter("", [&](const Portal& portal) {
      const std::optional<std::uint32_t> to_map = !MayPass(portal)        ? std::nullopt
                                                  : portal.to_map.empty() ? from_map
                                                                          : FindMap(portal.to_map);
      if (to_map) {
        AddDoor(portal, false, from_map, *to_map);
        if (portal.both_ways) {
          AddDoor(portal, true, from_map, *to_map);
        }
      }
      return true;
    });
  }
}

void PortalDoors::AddDoor(const Portal& portal, bool is_reversed, std::uint32_t from_map,
                          std::uint32_t to_map) {
  const Cell from = is_reversed ? portal.to : portal.from;
  Cell to = is_reversed ? portal.from : portal.to;
  if (!portal.to_map.empty()) {
    to = maps_[to_map].map->settings().frame.PlaneCellOf(to);
  }
  if (!maps_[from_map].walk->IsWalkable(from) || !maps_[to_map].walk->IsWalkable(to)) {
    return;
  }
  const auto index = static_cast<std::uint32_t>(doors_.size());
  doors_.push_back({.portal = &portal,
                    .is_reversed = is_reversed,
                    .from_map = from_map,
                    .to_map = to_map,
                    .from = from,
                    .to = to});
  maps_[from_map].departures.push_back(index);
  maps_[to_map].arrivals.push_back(index);
}

}  // namespace waystar::core
