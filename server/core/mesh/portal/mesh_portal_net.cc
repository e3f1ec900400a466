#include "server/core/mesh/portal/mesh_portal_net.h"

#include <algorithm>

#include "server/base/error.h"
#include "server/core/mesh/search/interval_expansion.h"

namespace waystar::core {
namespace {

// Up to this many bounds are compared one by one.
constexpr std::size_t kMostCompared = 256;

}  // namespace

void MeshPortalNet::AddDoors(std::uint32_t map, const PlacedPortal& portal,
                             std::vector<std::uint32_t>& doors) {
  if (!MayUse(portal)) {
    return;
  }
  for (std::size_t lane = 0; lane < portal.lanes.size(); ++lane) {
    for (const bool is_reversed : {false, true}) {
      if (is_reversed && !portal.both_ways) {
        continue;
      }
      const auto [number, is_new] = numbers_.try_emplace({&portal, lane, is_reversed});
      if (is_new) {
        PortalLane ends = portal.lanes[lane];
        std::optional<std::uint32_t> to_map = map;
        if (!portal.to_map.empty()) {
          to_map = FindMap(portal.to_map);
          ends.to = to_map ? MeshPlaceAt(*maps_[*to_map].map, portal.to).value_or(MeshPlace()) : MeshPlace();
        }
        if (ends.is_open()) {
          number->second = static_cast<std::uint32_t>(doors_.size());
          doors_.push_back({.portal = &portal,
                            .is_reversed = is_reversed,
                            .from_map = map,
                            .to_map = *to_map,
                            .from = is_reversed ? ends.to : ends.from,
                            .to = is_reversed ? ends.from : ends.to});
        }
      }
      if (number->second) {
        doors.push_back(*number->second);
      }
    }
  }
}

absl::Span<const std::uint32_t> MeshPortalNet::DoorsAt(std::uint32_t map, PolygonNumber polygon) {
  const auto known = maps_[map].doors_at.find(polygon);
  if (known != maps_[map].doors_at.end()) {
    return known->second;
  }
  std::vector<std::uint32_t> doors;
  if (const MeshPortalTable::Portals* const portals = maps_[map].map->portals().At(polygon)) {
    portals->VisitAfter("", [&](const PlacedPortal& portal) {
      AddDoors(map, portal, doors);
      return true;
    });
  }
  return maps_[map].doors_at[polygon] = std::move(doors);
}

absl::Span<const std::uint32_t> MeshPortalNet::ShortcutsOn(std::uint32_t map) {
  if (!maps_[map].has_shortcuts) {
    std::vector<std::uint32_t> doors;
    maps_[map].map->portals().shortcuts().VisitAfter("", [&](const PlacedPortal& portal) {
      AddDoors(map, portal, doors);
      return true;
    });
    maps_[map].shortcuts = std::move(doors);
    maps_[map].has_shortcuts = true;
  }
  return maps_[map].shortcuts;
}

absl::StatusOr<absl::Span<const std::uint32_t>> MeshPortalNet::DeparturesFrom(const MeshPart& part,
                                                                              const StopCheck& stop) {
  const auto [map, label] = part;
  if (!maps_[map].has_departures) {
    std::vector<std::uint32_t> doors;
    absl::Status status = stop.Check();
    std::size_t visited = 0;
    maps_[map].map->portals().VisitAfter("", [&](const PlacedPortal& portal) {
      status.Update(CheckStopAt(&stop, ++visited));
      AddDoors(map, portal, doors);
      return status.ok();
    });
    WAYSTAR_RETURN_IF_ERROR(status);
    for (const std::uint32_t number : doors) {
      for (const std::uint32_t from : FindPartsAround(*maps_[map].map, doors_[number].from)) {
        maps_[map].departures[from].push_back(number);
      }
    }
    maps_[map].has_departures = true;
  }
  const auto found = maps_[map].departures.find(label);
  return found == maps_[map].departures.end() ? absl::Span<const std::uint32_t>()
                                              : absl::MakeConstSpan(found->second);
}

absl::StatusOr<PortalBounds> PortalBounds::Estimate(MeshPortalNet& net, std::uint32_t goal_map,
                                                    absl::Span<const MeshPlace> goals,
                                                    const StopCheck& stop) {
  PortalBounds bounds(net, goal_map, goals.size());
  std::vector<std::uint32_t> shortcuts;
  // Shortcuts may lead to maps that are not in the list yet.
  for (std::uint32_t map = 0; map < net.maps().size(); ++map) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    const absl::Span<const std::uint32_t> doors = net.ShortcutsOn(map);
    shortcuts.insert(shortcuts.end(), doors.begin(), doors.end());
  }
  bounds.behind_ = DoorCosts<double>(net.door_count());
  if (shortcuts.size() > kMostShortcuts) {
    for (const std::uint32_t number : shortcuts) {
      bounds.behind_.Reach(number, 0.0);
    }
  } else {
    // Reaches the shortcuts that end on the map where a path with this rest starts.
    const auto relax = [&](std::uint32_t map, const MeshPlace& place, double rest) {
      for (const std::uint32_t number : shortcuts) {
        if (const MeshDoor& door = net.door(number); door.to_map == map) {
          bounds.behind_.Reach(number, DistanceInPlan(door.to.point, place.point) + rest);
        }
      }
      return stop.Check();
    };
    for (const MeshPlace& goal : goals) {
      WAYSTAR_RETURN_IF_ERROR(relax(goal_map, goal, 0.0));
    }
    WAYSTAR_RETURN_IF_ERROR(bounds.behind_.Spread([&](std::uint32_t number, double rest) {
      const MeshDoor& door = net.door(number);
      return relax(door.from_map, door.from, door.portal->cost + rest);
    }));
  }
  bounds.bounds_.resize(net.maps().size());
  for (const MeshPlace& goal : goals) {
    bounds.bounds_[goal_map].push_back({goal, 0.0});
  }
  for (const std::uint32_t number : shortcuts) {
    const MeshDoor& door = net.door(number);
    if (const double behind = bounds.behind_[number]; behind != kNoWay) {
      bounds.bounds_[door.from_map].push_back({door.from, door.portal->cost + behind});
    }
  }
  for (const std::vector<Bound>& on_map : bounds.bounds_) {
    double least = kNoWay;
    for (const Bound& bound : on_map) {
      least = std::min(least, bound.rest);
    }
    bounds.least_rests_.push_back(least);
  }
  return bounds;
}

double PortalBounds::From(std::uint32_t map, const WorldPoint& point) const {
  const absl::Span<const Bound> bounds = On(map);
  if (bounds.size() > kMostCompared) {
    return least_rests_[map];
  }
  double least = kNoWay;
  for (const Bound& bound : bounds) {
    least = std::min(least, DistanceInPlan(point, bound.place.point) + bound.rest);
  }
  return least;
}

double PortalBounds::Behind(std::uint32_t number) const {
  const MeshDoor& door = net_->door(number);
  return door.portal->is_shortcut ? behind_[number] : From(door.to_map, door.to.point);
}

absl::StatusOr<ReachableParts> ReachableParts::Find(MeshPortalNet& net, const MeshPlace& start,
                                                    const StopCheck& stop) {
  ReachableParts reachable(net);
  std::vector<MeshPart> open;
  const auto reach = [&](std::uint32_t map, const MeshPlace& place) {
    for (const std::uint32_t part : FindPartsAround(*net.maps()[map].map, place)) {
      if (reachable.parts_.insert({map, part}).second) {
        open.push_back({map, part});
      }
    }
  };
  reach(0, start);
  for (std::size_t i = 0; i < open.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, i));
    WAYSTAR_ASSIGN_OR_RETURN(const absl::Span<const std::uint32_t> departures,
                             net.DeparturesFrom(open[i], stop));
    for (const std::uint32_t number : departures) {
      reach(net.door(number).to_map, net.door(number).to);
    }
  }
  return reachable;
}

std::vector<std::uint32_t> ReachableParts::On(std::uint32_t map) const {
  std::vector<std::uint32_t> parts;
  for (auto i = parts_.lower_bound({map, 0}); i != parts_.end() && i->first == map; ++i) {
    parts.push_back(i->second);
  }
  return parts;
}

bool ReachableParts::IsReached(std::uint32_t map, const MeshPlace& place) const {
  return std::ranges::any_of(FindPartsAround(*net_->maps()[map].map, place), [&](std::uint32_t part) {
    return parts_.contains({map, part});
  });
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
    WAYSTAR_ASSIGN_OR_RETURN(const ReachableParts reachable, ReachableParts::Find(net_, from, stop));
    known = parts_.emplace(parts, reachable.On(0)).first;
  }
  return std::ranges::any_of(
      to_parts, [&](std::uint32_t part) { return std::ranges::binary_search(known->second, part); });
}

}  // namespace waystar::core
