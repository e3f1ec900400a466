#include "server/core/grid/portal/grid_portal_net.h"

#include <utility>

namespace waystar::core {

GridPortalNet::GridPortalNet(const GridMap& home, World& world, const Agent& agent)
    : PortalNet(home, world, agent.required_tags), agent_(agent) {
  maps_[0].walk = home.walk(agent.footprint);
}

std::optional<std::uint32_t> GridPortalNet::FindMap(absl::string_view id) {
  const std::optional<std::uint32_t> map = PortalNet::FindMap(id);
  if (map && maps_[*map].walk == nullptr) {
    maps_[*map].walk = maps_[*map].map->walk(agent_.footprint);
  }
  return map;
}

void GridPortalNet::FindDoors() {
  // Adds the maps that portals lead to, reachable or not, while iterating.
  for (std::uint32_t from_map = 0; from_map < maps_.size(); ++from_map) {
    VisitDoorsOf(from_map, [&](const Portal& portal, bool is_reversed) {
      const std::optional<std::uint32_t> to_map = portal.to_map.empty() ? from_map : FindMap(portal.to_map);
      if (to_map) {
        AddDoor(portal, is_reversed, from_map, *to_map);
      }
    });
  }
}

void GridPortalNet::AddDoor(const Portal& portal, bool is_reversed, std::uint32_t from_map,
                            std::uint32_t to_map) {
  const Cell from = is_reversed ? portal.to : portal.from;
  Cell to = is_reversed ? portal.from : portal.to;
  if (!portal.to_map.empty()) {
    to = maps_[to_map].map->settings().frame.PlaneCellOf(to);
  }
  if (!maps_[from_map].walk->IsWalkable(from) || !maps_[to_map].walk->IsWalkable(to)) {
    return;
  }
  const auto number = static_cast<std::uint32_t>(doors_.size());
  doors_.push_back({{.portal = &portal,
                     .is_reversed = is_reversed,
                     .from_map = from_map,
                     .to_map = to_map,
                     .from = from,
                     .to = to}});
  maps_[from_map].departures.push_back(number);
  maps_[to_map].arrivals.push_back(number);
}

void GridPortalNet::ListDeparturesByPart(std::uint32_t map) {
  maps_[map].is_reached = true;
  const std::vector<std::uint32_t>& departures = maps_[map].departures;
  for (auto number = departures.rbegin(); number != departures.rend(); ++number) {
    GridPart& part = parts_[PartOf(map, doors_[*number].from)];
    doors_[*number].next_departure = std::exchange(part.first_departure, *number);
  }
}

const Components& GridPortalNet::ComponentsOf(std::uint32_t map) const {
  return maps_[map].walk->components(AdjacencyOf(*maps_[map].map, agent_.corner_rule));
}

std::uint32_t GridPortalNet::PartOf(std::uint32_t map, Cell cell) {
  const ComponentId id = ComponentsOf(map).Find(cell);
  const auto [entry, is_new] =
      part_numbers_.try_emplace({map, id.block, id.number}, static_cast<std::uint32_t>(parts_.size()));
  if (is_new) {
    parts_.push_back({.map = map, .id = id});
  }
  return entry->second;
}

std::optional<std::uint32_t> GridPortalNet::FindPart(std::uint32_t map, ComponentId id) const {
  const auto found = part_numbers_.find({map, id.block, id.number});
  return found == part_numbers_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace waystar::core
