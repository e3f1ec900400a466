#include "server/core/mesh/portal/mesh_portal_validation.h"

#include <cmath>

#include "server/base/status_macros.h"
#include "server/core/mesh/map/mesh_portal.h"

namespace waystar::core {
namespace {

bool IsNear(const WorldPoint& a, const WorldPoint& b) {
  return std::abs(a.x - b.x) <= kMeshTolerance && std::abs(a.y - b.y) <= kMeshTolerance &&
         std::abs(a.z - b.z) <= kMeshTolerance;
}

bool IsAt(const MeshPlace& place, const WorldPoint& point) {
  return place.polygon != kNoPolygon && IsNear(place.point, point);
}

// Meshes as ValidateLegs sees them.
struct MeshLegs {
  using Check = MeshPathCheck;

  const MeshWorld& world;
  const Budget& budget;

  absl::StatusOr<MeshPathCheck> Walk(const NavMesh& mesh, absl::Span<const WorldPoint> leg,
                                     std::size_t /*begin*/) const {
    return ValidateMeshPath(mesh, leg, budget);
  }
  static bool IsWalkable(const MeshPathCheck& walk) { return walk.is_walkable; }
  static MeshPathCheck Blocked(std::size_t end, const WorldPoint& before, const WorldPoint& /*point*/,
                               double cost) {
    return {.is_walkable = false, .blocked_index = end, .blocked_at = before, .cost = cost};
  }
  static bool Starts(const PlacedPortal& portal, const WorldPoint& point) {
    return IsAt(portal.from_place, point);
  }
  static bool Ends(const PlacedPortal& portal, const WorldPoint& point) {
    return IsAt(portal.to_place, point);
  }
  bool EndsOn(const NavMesh& mesh, const PlacedPortal& portal, const WorldPoint& point) const {
    return IsAt(world.PlaceOn(mesh, portal.to).value_or(MeshPlace()), point);
  }
  static bool AreSame(const WorldPoint& a, const WorldPoint& b) { return IsNear(a, b); }
  static double CostOf(const PlacedPortal& portal) { return portal.cost; }
};

}  // namespace

absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckMeshCorners(corners));
  return ValidateLegs(MeshLegs{world, budget}, mesh, world, corners, crossings, required_tags);
}

}  // namespace waystar::core
