#include "server/core/mesh/portal/mesh_portal_net.h"

#include <algorithm>

#include "server/base/error.h"
#include "server/core/mesh/search/interval_expansion.h"

namespace waystar::core {

absl::StatusOr<absl::Span<const std::uint32_t>> MeshPortalNet::DeparturesFrom(const MeshPart& part,
                                                                              const StopCheck& stop) {
  if (!maps_[part.first].is_loaded) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    Load(part.first);
  }
  const auto found = departures_.find(part);
  if (found == departures_.end()) {
    return absl::Span<const std::uint32_t>();
  }
  Departures& departures = found->second;
  if (!departures.is_settled) {
    std::vector<std::uint32_t> settled;
    for (std::size_t i = 0; i < departures.doors.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, i));
      if (Settle(doors_[departures.doors[i]])) {
        settled.push_back(departures.doors[i]);
      }
    }
    departures = {.doors = std::move(settled), .is_settled = true};
  }
  return absl::MakeConstSpan(departures.doors);
}

void MeshPortalNet::Load(std::uint32_t map) {
  VisitDoorsOf(map, [&](const PlacedPortal& portal, bool is_reversed) {
    const MeshPlace& from = is_reversed ? portal.to_place : portal.from_place;
    const MeshPlace& to = is_reversed ? portal.from_place : portal.to_place;
    if (from.polygon == kNoPolygon || (portal.to_map.empty() && to.polygon == kNoPolygon)) {
      return;
    }
    for (const std::uint32_t part : FindPartsAround(*maps_[map].map, from)) {
      departures_[{map, part}].doors.push_back(static_cast<std::uint32_t>(doors_.size()));
    }
    doors_.push_back({.portal = &portal,
                      .is_reversed = is_reversed,
                      .from_map = map,
                      .to_map = map,
                      .from = from,
                      .to = to});
  });
  maps_[map].is_loaded = true;
}

bool MeshPortalNet::Settle(MeshDoor& door) {
  if (door.portal->to_map.empty()) {
    return true;
  }
  const std::optional<std::uint32_t> map = FindMap(door.portal->to_map);
  if (!map) {
    return false;
  }
  const std::optional<MeshPlace> place = MeshPlaceAt(*maps_[*map].map, door.portal->to);
  door.to_map = *map;
  door.to = place.value_or(MeshPlace());
  return place.has_value();
}

absl::StatusOr<MeshDoors> MeshDoors::Find(MeshPortalNet& net, const MeshPlace& start, const StopCheck& stop) {
  MeshDoors doors(net);
  std::vector<MeshPart> open;
  const auto reach = [&](std::uint32_t map, const MeshPlace& place) {
    for (const std::uint32_t part : doors.PartsOf(map, place)) {
      if (doors.parts_.try_emplace({map, part}).second) {
        open.push_back({map, part});
      }
    }
  };
  reach(0, start);
  std::vector<bool> is_known;
  for (std::size_t i = 0; i < open.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, i));
    WAYSTAR_ASSIGN_OR_RETURN(const absl::Span<const std::uint32_t> departures,
                             net.DeparturesFrom(open[i], stop));
    doors.parts_[open[i]] = departures;
    is_known.resize(net.door_count());
    for (const std::uint32_t number : departures) {
      // A door may start in several parts.
      if (!is_known[number]) {
        is_known[number] = true;
        doors.numbers_.push_back(number);
        reach(net.door(number).to_map, net.door(number).to);
      }
    }
  }
  return doors;
}

std::vector<std::uint32_t> MeshDoors::DeparturesOn(std::uint32_t map) const {
  std::vector<std::uint32_t> departures;
  std::vector<bool> is_known(net_->door_count());
  for (auto i = parts_.lower_bound({map, 0}); i != parts_.end() && i->first.first == map; ++i) {
    for (const std::uint32_t number : i->second) {
      if (!is_known[number]) {
        is_known[number] = true;
        departures.push_back(number);
      }
    }
  }
  return departures;
}

std::vector<std::uint32_t> MeshDoors::ReachedParts(std::uint32_t map) const {
  std::vector<std::uint32_t> parts;
  for (auto i = parts_.lower_bound({map, 0}); i != parts_.end() && i->first.first == map; ++i) {
    parts.push_back(i->first.second);
  }
  return parts;
}

bool MeshDoors::IsReached(std::uint32_t map, const MeshPlace& place) const {
  return std::ranges::any_of(PartsOf(map, place), [&](std::uint32_t part) {
    return parts_.contains({map, part});
  });
}

absl::Status MeshDoors::EstimateRests(std::uint32_t goal_map, absl::Span<const MeshPlace> goals,
                                      const StopCheck& stop) {
  // Doors that end in a part, to go from each door to the ones before it.
  std::map<MeshPart, std::vector<std::uint32_t>> arrivals;
  for (const std::uint32_t number : numbers_) {
    const MeshDoor& door = net_->door(number);
    for (const std::uint32_t part : PartsOf(door.to_map, door.to)) {
      arrivals[{door.to_map, part}].push_back(number);
    }
  }
  rests_ = DoorCosts<double>(net_->door_count());
  // Reaches the doors that end where a path with this rest starts.
  const auto relax = [&](std::uint32_t map, const MeshPlace& place, double rest) {
    for (const std::uint32_t part : PartsOf(map, place)) {
      for (const std::uint32_t number : arrivals[{map, part}]) {
        rests_.Reach(number, DistanceInPlan(net_->door(number).to.point, place.point) + rest);
      }
    }
    return stop.Check();
  };
  for (const MeshPlace& goal : goals) {
    WAYSTAR_RETURN_IF_ERROR(relax(goal_map, goal, 0.0));
  }
  return rests_.Spread([&](std::uint32_t number, double rest) {
    const MeshDoor& door = net_->door(number);
    return relax(door.from_map, door.from, door.portal->cost + rest);
  });
}

double MeshDoors::LeastThroughDoors(const MeshPlace& place) const {
  double least = kNoWay;
  for (const std::uint32_t label : PartsOf(0, place)) {
    const auto part = parts_.find({0, label});
    if (part == parts_.end()) {
      continue;
    }
    for (const std::uint32_t number : part->second) {
      const MeshDoor& door = net_->door(number);
      least =
          std::min(least, DistanceInPlan(place.point, door.from.point) + door.portal->cost + rests_[number]);
    }
  }
  return least;
}

absl::StatusOr<bool> ReachedMeshParts::IsReached(const MeshPlace& from, const MeshPlace& to,
                                                 const StopCheck& stop) {
  const NavMesh& home = net_.home();
  const PartsAround parts = FindPartsAround(home, from);
  const PartsAround to_parts = FindPartsAround(home, to);
  const bool is_shared = HaveSharedPart(parts, to_parts);
  if (is_shared || home.portals().empty()) {
    return is_shared;
  }
  auto known = parts_.find(parts);
  if (known == parts_.end()) {
    WAYSTAR_ASSIGN_OR_RETURN(const MeshDoors doors, MeshDoors::Find(net_, from, stop));
    known = parts_.emplace(parts, doors.ReachedParts(0)).first;
  }
  return std::ranges::any_of(
      to_parts, [&](std::uint32_t part) { return std::ranges::binary_search(known->second, part); });
}

}  // namespace waystar::core
