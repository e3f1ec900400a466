#include "server/core/mesh/portal/mesh_portal_net.h"

#include <algorithm>

#include "server/base/error.h"
#include "server/core/mesh/search/interval_expansion.h"

namespace waystar::core {
namespace {

// Up to this many bounds are compared one by one.
constexpr std::size_t kMostCompared = 256;

}  // namespace

std::optional<std::uint32_t> MeshPortalNet::NumberOf(std::uint32_t map, const PlacedPortal& portal,
                                                     std::size_t lane, bool is_reversed) {
  const auto [number, is_new] = numbers_.try_emplace({&portal, lane, is_reversed});
  if (!is_new) {
    return number->second;
  }
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
  return number->second;
}

void MeshPortalNet::AddDoors(std::uint32_t map, const PlacedPortal& portal,
                             std::vector<std::uint32_t>& doors) {
  VisitDirections(portal, [&](const PlacedPortal& /*portal*/, bool is_reversed) {
    for (std::size_t lane = 0; lane < portal.lanes.size(); ++lane) {
      if (const std::optional<std::uint32_t> number = NumberOf(map, portal, lane, is_reversed)) {
        doors.push_back(*number);
      }
    }
  });
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
  if (!maps_[map].shortcuts) {
    std::vector<std::uint32_t> doors;
    maps_[map].map->portals().shortcuts().VisitAfter("", [&](const PlacedPortal& portal) {
      AddDoors(map, portal, doors);
      return true;
    });
    maps_[map].shortcuts = std::move(doors);
  }
  return *maps_[map].shortcuts;
}

absl::StatusOr<absl::Span<const PortalEnd>> MeshPortalNet::DeparturesFrom(const MeshPart& part,
                                                                          const StopCheck& stop) {
  const std::uint32_t map = part.first;
  if (!maps_[map].departures) {
    std::map<std::uint32_t, std::vector<PortalEnd>> departures;
    absl::Status status = stop.Check();
    std::size_t visited = 0;
    VisitDoorsOf(map, [&](const PlacedPortal& portal, bool is_reversed) {
      status.Update(CheckStopAt(&stop, ++visited));
      for (std::uint32_t lane = 0; lane < portal.lanes.size() && status.ok(); ++lane) {
        const MeshPlace& from = is_reversed ? portal.lanes[lane].to : portal.lanes[lane].from;
        if (from.polygon != kNoPolygon) {
          for (const std::uint32_t label : FindPartsAround(*maps_[map].map, from)) {
            departures[label].push_back({&portal, lane, is_reversed});
          }
        }
      }
    });
    WAYSTAR_RETURN_IF_ERROR(status);
    maps_[map].departures = std::move(departures);
  }
  const auto found = maps_[map].departures->find(part.second);
  return found == maps_[map].departures->end() ? absl::Span<const PortalEnd>()
                                               : absl::MakeConstSpan(found->second);
}

absl::StatusOr<PortalBounds> PortalBounds::Estimate(MeshPortalNet& net, std::uint32_t goal_map,
                                                    absl::Span<const MeshPlace> goals,
                                                    const StopCheck& stop) {
  PortalBounds bounds(net, goal_map, goals.size());
  std::vector<std::uint32_t> shortcuts;
  // Shortcuts may lead to maps that are not in the list yet.
  for (std::uint32_t map = 0; map < net.maps().size() && !bounds.are_unknown_; ++map) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    const std::size_t count = net.maps()[map].map->portals().shortcuts().size();
    const absl::Span<const std::uint32_t> doors =
        count <= kMostShortcuts ? net.ShortcutsOn(map) : absl::Span<const std::uint32_t>();
    shortcuts.insert(shortcuts.end(), doors.begin(), doors.end());
    bounds.are_unknown_ = count > kMostShortcuts || shortcuts.size() > kMostShortcuts;
  }
  if (bounds.are_unknown_) {
    return bounds;
  }
  bounds.behind_ = DoorCosts<double>(net.door_count());
  // Reaches the shortcuts that end on the map where a path with this rest starts.
  const auto relax = [&](std::uint32_t map, const MeshPlace& place, double rest) {
    for (const std::uint32_t number : shortcuts) {
      if (const MeshDoor& door = net.door(number); door.to_map == map) {
        bounds.behind_.Reach(number, kLineShare * DistanceInPlan(door.to.point, place.point) + rest);
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
  bounds.bounds_.resize(net.maps().size());
  for (const MeshPlace& goal : goals) {
    bounds.bounds_[goal_map].push_back({goal, 0.0});
  }
  for (const std::uint32_t number : shortcuts) {
    const MeshDoor& door = net.door(number);
    if (const double behind = bounds.behind_[number]; behind != kNoWay) {
      bounds.bounds_[door.from_map].push_back({door.from, door.portal->cost + behind, number});
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

PortalBounds PortalBounds::Narrowed(const MeshPlace& start, absl::Span<const std::uint32_t> doors,
                                    double most) const {
  const NavMesh& mesh = net_->home();
  const auto end_at = [&](const MeshPlace& place) {
    return End{place.point, GoalBounds(mesh, FindPlacesAround(mesh, place))};
  };
  const auto between = [](const End& a, const End& b) {
    return std::max(DistanceInPlan(a.point, b.point), a.bounds.Between(b.bounds));
  };
  struct Ends {
    End from;
    End to;
    double cost;
  };
  std::vector<Ends> all;
  all.reserve(doors.size());
  for (const std::uint32_t number : doors) {
    const MeshDoor& door = net_->door(number);
    all.push_back({end_at(door.from), end_at(door.to), door.portal->cost});
  }
  const auto spread = [&](DoorCosts<double>& costs, const auto& way) {
    costs
        .Spread([&](std::uint32_t i, double cost) {
          for (std::uint32_t j = 0; j < all.size(); ++j) {
            costs.Reach(j, cost + way(i, j));
          }
          return absl::OkStatus();
        })
        .IgnoreError();
  };
  DoorCosts<double> before(doors.size());
  DoorCosts<double> behind(doors.size());
  const End from = end_at(start);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    before.Reach(i, between(from, all[i].from));
  }
  spread(before,
         [&](std::uint32_t i, std::uint32_t j) { return all[i].cost + between(all[i].to, all[j].from); });
  PortalBounds narrowed(*net_, goal_map_, goal_count_);
  narrowed.bounds_.resize(bounds_.size());
  narrowed.least_rests_ = least_rests_;
  for (const Bound& goal : On(0).first(goal_count_)) {
    narrowed.bounds_[0].push_back(goal);
    narrowed.ends_.push_back(end_at(goal.place));
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      behind.Reach(i, between(all[i].to, narrowed.ends_.back()));
    }
  }
  spread(behind,
         [&](std::uint32_t i, std::uint32_t j) { return between(all[j].to, all[i].from) + all[i].cost; });
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (const double rest = all[i].cost + behind[i]; before[i] + rest < most) {
      narrowed.bounds_[0].push_back({net_->door(doors[i]).from, rest, doors[i]});
      narrowed.ends_.push_back({all[i].from.point, all[i].from.bounds, rest});
    }
  }
  return narrowed;
}

double PortalBounds::At(std::uint32_t vertex) const {
  const auto [entry, is_new] = at_vertices_.try_emplace(vertex, kNoWay);
  if (is_new) {
    const WorldPoint& point = net_->home().VertexAt(vertex);
    for (const End& end : ends_) {
      const double line = DistanceInPlan(point, end.point) + end.rest;
      if (line < entry->second) {
        entry->second = std::min(entry->second, std::max(line, end.bounds.At(vertex) + end.rest));
      }
    }
  }
  return entry->second;
}

double PortalBounds::From(std::uint32_t map, const WorldPoint& point) const {
  if (are_unknown_) {
    return 0.0;
  }
  const absl::Span<const Bound> bounds = On(map);
  if (bounds.size() > kMostCompared) {
    return least_rests_[map];
  }
  double least = kNoWay;
  for (const Bound& bound : bounds) {
    least = std::min(least, kLineShare * DistanceInPlan(point, bound.place.point) + bound.rest);
  }
  return least;
}

double PortalBounds::Behind(std::uint32_t number) const {
  const MeshDoor& door = net_->door(number);
  return door.portal->is_shortcut && !are_unknown_ ? behind_[number] : From(door.to_map, door.to.point);
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
    const std::uint32_t map = open[i].first;
    WAYSTAR_ASSIGN_OR_RETURN(const absl::Span<const PortalEnd> departures, net.DeparturesFrom(open[i], stop));
    for (const PortalEnd& end : departures) {
      const PortalLane& lane = end.portal->lanes[end.lane];
      if (lane.is_open()) {
        reach(map, end.is_reversed ? lane.from : lane.to);
      } else if (!end.portal->to_map.empty()) {
        if (const auto number = net.NumberOf(map, *end.portal, end.lane, end.is_reversed)) {
          reach(net.door(*number).to_map, net.door(*number).to);
        }
      }
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
