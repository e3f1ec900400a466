#include "server/core/mesh_portal/mesh_doors.h"

#include <algorithm>
#include <queue>

#include "server/base/status_macros.h"
#include "server/core/mesh_search/interval_expansion.h"

namespace waystar::core {
namespace {

bool MayPass(const MeshPortal& portal, absl::Span<const std::string> required_tags) {
  return !portal.closed &&
         std::includes(portal.tags.begin(), portal.tags.end(), required_tags.begin(), required_tags.end());
}

}  // namespace

MeshDoors::MeshDoors(const NavMesh& home, MeshWorld& world, const MeshPlace& start,
                     absl::Span<const std::string> required_tags) {
  maps_.push_back({.id = "", .mesh = &home, .departures = {}});
  std::vector<MeshDoor> all;
  FindAll(world, required_tags, all);
  KeepReached(start, all);
}

void MeshDoors::FindAll(MeshWorld& world, absl::Span<const std::string> required_tags,
                        std::vector<MeshDoor>& all) {
  // The indexes of the maps that were looked for; nothing for ids that no map has.
  std::map<absl::string_view, std::optional<std::uint32_t>> indexes;
  const auto index_of = [&](absl::string_view id) {
    const auto [entry, is_new] = indexes.try_emplace(id);
    if (is_new) {
      if (const NavMesh* mesh = world.Find(id); mesh != nullptr) {
        // The map of the start has another name, too.
        const bool is_home = mesh == maps_.front().mesh;
        entry->second = is_home ? 0 : static_cast<std::uint32_t>(maps_.size());
        if (!is_home) {
          maps_.push_back({.id = id, .mesh = mesh, .departures = {}});
        }
      }
    }
    return entry->second;
  };
  for (std::uint32_t from_map = 0; from_map < maps_.size(); ++from_map) {
    maps_[from_map].mesh->portals().VisitAfter("", [&](const PlacedPortal& portal) {
      if (!MayPass(portal, required_tags) || portal.from_place.polygon == kNoPolygon) {
        return true;
      }
      const std::optional<std::uint32_t> to_map = portal.to_map.empty() ? from_map : index_of(portal.to_map);
      if (!to_map) {
        return true;
      }
      const MeshPlace to = portal.to_map.empty()
                               ? portal.to_place
                               : MeshPlaceAt(*maps_[*to_map].mesh, portal.to).value_or(MeshPlace());
      if (to.polygon == kNoPolygon) {
        return true;
      }
      all.push_back(
          {.portal = &portal, .from_map = from_map, .to_map = *to_map, .from = portal.from_place, .to = to});
      if (portal.both_ways) {
        all.push_back({.portal = &portal,
                       .is_reversed = true,
                       .from_map = from_map,
                       .to_map = *to_map,
                       .from = to,
                       .to = portal.from_place});
      }
      return true;
    });
  }
}

void MeshDoors::KeepReached(const MeshPlace& start, const std::vector<MeshDoor>& all) {
  std::map<Part, std::vector<std::uint32_t>> departures;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    departures[{all[i].from_map, maps_[all[i].from_map].mesh->PartOf(all[i].from.polygon)}].push_back(i);
  }
  std::vector<Part> open = {{0, maps_.front().mesh->PartOf(start.polygon)}};
  parts_.try_emplace(open.front());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Part part = open[i];
    for (const std::uint32_t index : departures[part]) {
      const MeshDoor& door = all[index];
      parts_[part].push_back(static_cast<std::uint32_t>(doors_.size()));
      maps_[door.from_map].departures.push_back(static_cast<std::uint32_t>(doors_.size()));
      doors_.push_back(door);
      const Part beyond = {door.to_map, maps_[door.to_map].mesh->PartOf(door.to.polygon)};
      if (parts_.try_emplace(beyond).second) {
        open.push_back(beyond);
      }
    }
  }
}

std::optional<std::uint32_t> MeshDoors::IndexOf(absl::string_view id) const {
  const auto found = std::ranges::find(maps_, id, &MeshOfDoors::id);
  if (found == maps_.end()) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(found - maps_.begin());
}

std::vector<std::uint32_t> MeshDoors::ReachedParts(std::uint32_t map) const {
  std::vector<std::uint32_t> parts;
  for (auto i = parts_.lower_bound({map, 0}); i != parts_.end() && i->first.first == map; ++i) {
    parts.push_back(i->first.second);
  }
  return parts;
}

absl::Status MeshDoors::EstimateRests(std::uint32_t goal_map, absl::Span<const MeshPlace> goals,
                                      const StopCheck& stop) {
  // The doors that end in a part, to go from each door to those before it.
  std::map<Part, std::vector<std::uint32_t>> arrivals;
  for (std::uint32_t i = 0; i < doors_.size(); ++i) {
    doors_[i].rest = kNoWay;
    arrivals[{doors_[i].to_map, maps_[doors_[i].to_map].mesh->PartOf(doors_[i].to.polygon)}].push_back(i);
  }
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  // Relaxes the doors that end where a way of this rest begins.
  const auto relax = [&](std::uint32_t map, const MeshPlace& place, double rest) {
    for (const std::uint32_t index : arrivals[{map, maps_[map].mesh->PartOf(place.polygon)}]) {
      const double through = PlanDistance(doors_[index].to.point, place.point) + rest;
      if (through < doors_[index].rest) {
        doors_[index].rest = through;
        open.push({through, index});
      }
    }
    return stop.Check();
  };
  for (const MeshPlace& goal : goals) {
    WAYSTAR_RETURN_IF_ERROR(relax(goal_map, goal, 0.0));
  }
  while (!open.empty()) {
    const auto [rest, index] = open.top();
    open.pop();
    const MeshDoor& door = doors_[index];
    if (rest == door.rest) {
      WAYSTAR_RETURN_IF_ERROR(relax(door.from_map, door.from, door.portal->cost + rest));
    }
  }
  return absl::OkStatus();
}

double MeshDoors::LeastThroughDoors(std::uint32_t map, const MeshPlace& place) const {
  double least = kNoWay;
  if (const auto part = parts_.find({map, maps_[map].mesh->PartOf(place.polygon)}); part != parts_.end()) {
    for (const std::uint32_t index : part->second) {
      const MeshDoor& door = doors_[index];
      least = std::min(least, PlanDistance(place.point, door.from.point) + door.portal->cost + door.rest);
    }
  }
  return least;
}

bool ReachedMeshParts::IsReached(const MeshPlace& from, const MeshPlace& to) {
  const std::uint32_t part = mesh_.PartOf(from.polygon);
  if (part == mesh_.PartOf(to.polygon) || mesh_.portals().empty()) {
    return part == mesh_.PartOf(to.polygon);
  }
  const auto [entry, is_new] = parts_.try_emplace(part);
  if (is_new) {
    entry->second = MeshDoors(mesh_, world_, from, required_tags_).ReachedParts(0);
  }
  return std::ranges::binary_search(entry->second, mesh_.PartOf(to.polygon));
}

}  // namespace waystar::core
