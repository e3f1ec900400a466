#include "server/core/mesh/portal/mesh_portal_validation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "server/base/status_macros.h"
#include "server/core/mesh/map/mesh_portal.h"
#include "server/core/search/path_legs.h"

namespace waystar::core {
namespace {

bool IsNear(const WorldPoint& a, const WorldPoint& b) {
  return std::abs(a.x - b.x) <= kMeshTolerance && std::abs(a.y - b.y) <= kMeshTolerance &&
         std::abs(a.z - b.z) <= kMeshTolerance;
}

bool IsAt(const MeshPlace& place, const WorldPoint& point) {
  return place.polygon != kNoPolygon && IsNear(place.point, point);
}

// A portal that the path uses, and the mesh that it leads to.
struct Passage {
  std::shared_ptr<const PlacedPortal> portal;
  const NavMesh* there = nullptr;
};

// Returns nothing if an agent with these tags cannot use the portal from there.
std::optional<Passage> Pass(const NavMesh& here, MeshWorld& world, const CrossedMeshPortal& crossing,
                            const WorldPoint& from, absl::Span<const std::string> tags) {
  std::shared_ptr<const PlacedPortal> portal = here.portals().Find(crossing.id);
  if (portal == nullptr || portal->closed ||
      !std::includes(portal->tags.begin(), portal->tags.end(), tags.begin(), tags.end())) {
    return std::nullopt;
  }
  if (portal->to_map.empty()) {
    const bool leads_there = IsAt(portal->from_place, from) && IsAt(portal->to_place, crossing.arrival);
    const bool leads_back =
        portal->both_ways && IsAt(portal->to_place, from) && IsAt(portal->from_place, crossing.arrival);
    return leads_there || leads_back ? std::optional(Passage{portal, &here}) : std::nullopt;
  }
  const NavMesh* const there = world.Find(portal->to_map);
  if (there == nullptr || !IsAt(portal->from_place, from) ||
      !IsAt(world.PlaceOn(*there, portal->to).value_or(MeshPlace()), crossing.arrival)) {
    return std::nullopt;
  }
  return Passage{portal, there};
}

}  // namespace

absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckMeshCorners(corners));
  WAYSTAR_RETURN_IF_ERROR(CheckCrossingIndices(corners.size(), crossings));
  const NavMesh* here = &mesh;
  double cost = 0.0;
  for (std::size_t leg = 0;; ++leg) {
    const absl::Span<const WorldPoint> part = LegOf(corners, crossings, leg);
    const std::size_t begin = leg == 0 ? 0 : crossings[leg - 1].index;
    WAYSTAR_ASSIGN_OR_RETURN(MeshPathCheck walk, ValidateMeshPath(*here, part, budget));
    walk.cost += cost;
    walk.blocked_index += begin;
    if (leg == crossings.size() || !walk.is_walkable) {
      return walk;
    }
    cost = walk.cost;
    const std::optional<Passage> passage = Pass(*here, world, crossings[leg], part.back(), required_tags);
    const std::size_t end = crossings[leg].index;
    if (!passage || !IsNear(corners[end], crossings[leg].arrival)) {
      return MeshPathCheck{
          .is_walkable = false, .blocked_index = end, .blocked_at = part.back(), .cost = cost};
    }
    here = passage->there;
    cost += passage->portal->cost;
  }
}

}  // namespace waystar::core
