#include "server/core/mesh/portal/mesh_doors.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/base/status_macros.h"
#include "server/core/mesh/search/interval_expansion.h"

namespace waystar::core {

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
  // Index of each known door by its number in the net; a door may start in several parts.
  absl::flat_hash_map<std::uint32_t, std::uint32_t> indices;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const MeshPart part = open[i];
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, i));
    WAYSTAR_ASSIGN_OR_RETURN(const absl::Span<const std::uint32_t> departures,
                             net.DeparturesFrom(part, stop));
    for (const std::uint32_t number : departures) {
      const auto [known, is_new] =
          indices.try_emplace(number, static_cast<std::uint32_t>(doors.doors_.size()));
      doors.parts_[part].push_back(known->second);
      if (is_new) {
        doors.doors_.push_back(number);
        reach(net.door(number).to_map, net.door(number).to);
      }
    }
  }
  doors.rests_.assign(doors.doors_.size(), kNoWay);
  return doors;
}

std::vector<std::uint32_t> MeshDoors::DeparturesOn(std::uint32_t map) const {
  std::vector<std::uint32_t> departures;
  std::vector<bool> is_known(size());
  for (auto i = parts_.lower_bound({map, 0}); i != parts_.end() && i->first.first == map; ++i) {
    for (const std::uint32_t index : i->second) {
      if (!is_known[index]) {
        is_known[index] = true;
        departures.push_back(index);
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
  for (std::uint32_t i = 0; i < size(); ++i) {
    rests_[i] = kNoWay;
    for (const std::uint32_t part : PartsOf((*this)[i].to_map, (*this)[i].to)) {
      arrivals[{(*this)[i].to_map, part}].push_back(i);
    }
  }
  // Improves the rests of the doors that end where a path with this rest starts, and lists these doors.
  std::vector<std::uint32_t> improved;
  const auto relax = [&](std::uint32_t map, const MeshPlace& place, double rest) {
    for (const std::uint32_t part : PartsOf(map, place)) {
      for (const std::uint32_t index : arrivals[{map, part}]) {
        const double through = PlanDistance((*this)[index].to.point, place.point) + rest;
        if (through < rests_[index]) {
          rests_[index] = through;
          improved.push_back(index);
        }
      }
    }
    return stop.Check();
  };
  for (const MeshPlace& goal : goals) {
    improved.clear();
    WAYSTAR_RETURN_IF_ERROR(relax(goal_map, goal, 0.0));
  }
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (rests_[i] != kNoWay) {
      open.push({rests_[i], i});
    }
  }
  while (!open.empty()) {
    const auto [rest, index] = open.top();
    open.pop();
    if (rest > rests_[index]) {
      continue;
    }
    const MeshDoor& door = (*this)[index];
    improved.clear();
    WAYSTAR_RETURN_IF_ERROR(relax(door.from_map, door.from, door.portal->cost + rest));
    for (const std::uint32_t before : improved) {
      open.push({rests_[before], before});
    }
  }
  return absl::OkStatus();
}

double MeshDoors::LeastThroughDoors(const MeshPlace& place) const {
  double least = kNoWay;
  for (const std::uint32_t label : PartsOf(0, place)) {
    const auto part = parts_.find({0, label});
    if (part == parts_.end()) {
      continue;
    }
    for (const std::uint32_t index : part->second) {
      const MeshDoor& door = (*this)[index];
      least = std::min(least, PlanDistance(place.point, door.from.point) + door.portal->cost + rests_[index]);
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
