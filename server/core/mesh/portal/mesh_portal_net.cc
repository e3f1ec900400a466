#include "server/core/mesh/portal/mesh_portal_net.h"

#include <algorithm>

#include "server/base/status_macros.h"
#include "server/core/mesh/search/polygons_around.h"

namespace waystar::core {

MeshPortalNet::MeshPortalNet(const NavMesh& home, MeshWorld& world,
                             absl::Span<const std::string> required_tags)
    : world_(world), required_tags_(required_tags), maps_{{.id = "", .mesh = &home}}, is_loaded_{false} {}

std::optional<std::uint32_t> MeshPortalNet::FindMap(absl::string_view id) {
  if (id.empty()) {
    return 0;
  }
  const auto [entry, is_new] = indexes_.try_emplace(std::string(id));
  if (is_new) {
    if (const NavMesh* const mesh = world_.Find(id); mesh == &home()) {
      entry->second = 0;
    } else if (mesh != nullptr) {
      entry->second = static_cast<std::uint32_t>(maps_.size());
      maps_.push_back({.id = entry->first, .mesh = mesh});
      is_loaded_.push_back(false);
    }
  }
  return entry->second;
}

absl::StatusOr<absl::Span<const std::uint32_t>> MeshPortalNet::DeparturesFrom(const MeshPart& part,
                                                                              const StopCheck& stop) {
  if (!is_loaded_[part.first]) {
    WAYSTAR_RETURN_IF_ERROR(Load(part.first, stop));
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

absl::Status MeshPortalNet::Load(std::uint32_t map, const StopCheck& stop) {
  std::size_t looked_at = 0;
  absl::Status status;
  maps_[map].mesh->portals().VisitAfter("", [&](const PlacedPortal& portal) {
    status = CheckStopAt(&stop, looked_at++);
    const bool may_pass =
        !portal.closed && portal.from_place.polygon != kNoPolygon &&
        (!portal.to_map.empty() || portal.to_place.polygon != kNoPolygon) &&
        std::includes(portal.tags.begin(), portal.tags.end(), required_tags_.begin(), required_tags_.end());
    if (status.ok() && may_pass) {
      Add({.portal = &portal,
           .is_reversed = false,
           .from_map = map,
           .to_map = map,
           .from = portal.from_place,
           .to = portal.to_place});
      if (portal.both_ways) {
        Add({.portal = &portal,
             .is_reversed = true,
             .from_map = map,
             .to_map = map,
             .from = portal.to_place,
             .to = portal.from_place});
      }
    }
    return status.ok();
  });
  WAYSTAR_RETURN_IF_ERROR(status);
  is_loaded_[map] = true;
  return absl::OkStatus();
}

void MeshPortalNet::Add(const MeshDoor& door) {
  for (const std::uint32_t part : FindPartsAround(*maps_[door.from_map].mesh, door.from)) {
    departures_[{door.from_map, part}].doors.push_back(static_cast<std::uint32_t>(doors_.size()));
  }
  doors_.push_back(door);
}

bool MeshPortalNet::Settle(MeshDoor& door) {
  if (door.portal->to_map.empty()) {
    return true;
  }
  const std::optional<std::uint32_t> map = FindMap(door.portal->to_map);
  if (!map) {
    return false;
  }
  const std::optional<MeshPlace> place = world_.PlaceOn(*maps_[*map].mesh, door.portal->to);
  door.to_map = *map;
  door.to = place.value_or(MeshPlace());
  return place.has_value();
}

}  // namespace waystar::core
