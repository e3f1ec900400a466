#include "server/core/mesh/map/mesh_views.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/tags.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/mesh_portals.h"

namespace waystar::core {
namespace {

// Adds the holes of obstacles that only one of two tables has to those that the change removes or adds.
absl::Status AddDifferences(const ObstacleTable& before, const ObstacleTable& after, double widening,
                            const StopCheck* stop, HoleChange& change) {
  absl::Status status;
  before.VisitDifferences(after, [&](const Obstacle& obstacle) {
    const auto old = before.Find(obstacle.id);
    const auto next = after.Find(obstacle.id);
    if (old != nullptr && next != nullptr && old->shape == next->shape && old->heights == next->heights) {
      return;
    }
    absl::StatusOr<HoleList> holes = HolesOf(obstacle, widening, stop);
    status.Update(holes.status());
    if (holes.ok()) {
      HoleList& list = next.get() == &obstacle ? change.added : change.removed;
      list.insert(list.end(), holes->begin(), holes->end());
    }
  });
  return status;
}

// Returns the portals of the mesh, placed on the view unless it has the same ones already.
MeshPortalTable PortalsOf(const NavMesh& mesh, const NavMesh& view) {
  MeshPortalTable portals = view.portals();
  view.portals().VisitAfter("", [&](const PlacedPortal& portal) {
    if (mesh.portals().Find(portal.id) == nullptr) {
      portals.Remove(portal.id);
    }
    return true;
  });
  mesh.portals().VisitAfter("", [&](const PlacedPortal& portal) {
    const std::shared_ptr<const MeshPortal> before = portals.Find(portal.id);
    if (before == nullptr || *before != static_cast<const MeshPortal&>(portal)) {
      portals.Put(std::make_shared<const PlacedPortal>(view.Placed(portal)));
    }
    return true;
  });
  return portals;
}

// Returns ReplaceObstacles, and adds boxes around the holes that changed.
absl::StatusOr<NavMesh> ReplaceObstacles(const NavMesh& mesh, const ObstacleTable& obstacles,
                                         const StopCheck* stop, BoxSet& boxes) {
  HoleChange change;
  WAYSTAR_RETURN_IF_ERROR(AddDifferences(mesh.obstacles(), obstacles, mesh.agent_radius(), stop, change));
  AddBoxes(change.added, boxes);
  AddBoxes(change.removed, boxes);
  WAYSTAR_ASSIGN_OR_RETURN(const NavMesh cut, ChangeHoles(mesh, change, stop));
  return cut.WithObstacles(obstacles);
}

// Returns the view, or the surface for larger agents, with the obstacles and portals of the mesh.
absl::StatusOr<NavMesh> WithElementsOf(const NavMesh& mesh, const NavMesh& view,
                                       const StopCheck* stop = nullptr) {
  BoxSet boxes;
  WAYSTAR_ASSIGN_OR_RETURN(NavMesh with, ReplaceObstacles(view, mesh.obstacles(), stop, boxes));
  if (view.portals().digest() != mesh.portals().digest()) {
    with = with.WithPortals(PortalsOf(mesh, with));
  }
  return with.WithPortalsPlaced(boxes.boxes(), stop);
}

absl::StatusOr<NavMesh> MakeView(const NavMesh& mesh, const AreaCosts& costs, const NavMesh* before) {
  if (before != nullptr) {
    return WithElementsOf(mesh, *before);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const NavMesh view, mesh.Bare().WithCosts(costs));
  return WithElementsOf(mesh, view);
}

}  // namespace

absl::StatusOr<NavMesh> ReplaceObstacles(const NavMesh& mesh, const ObstacleTable& obstacles,
                                         const StopCheck* stop) {
  BoxSet boxes;
  return ReplaceObstacles(mesh, obstacles, stop, boxes);
}

absl::StatusOr<AreaCosts> CostsOn(const NavMesh& surface, const NavMesh& map, GroundRules rules) {
  const auto is_elsewhere = [&](const std::string& name) {
    const auto has = [&](const NavMesh& mesh) {
      return std::ranges::any_of(mesh.terrains(),
                                 [&](const MeshTerrain& terrain) { return terrain.name == name; });
    };
    return !has(surface) && (has(map) || std::ranges::any_of(map.larger(), has));
  };
  std::erase_if(rules.costs, [&](const GroundCost& cost) { return is_elsewhere(cost.terrain); });
  std::erase_if(rules.forbidden, is_elsewhere);
  return CostsUnder(rules, surface.terrains());
}

absl::Status CheckProfile(const MeshProfile& profile, const NavMesh& map) {
  WAYSTAR_RETURN_IF_ERROR(CostsOn(map, map, profile.ground).status());
  return WithFieldPrefix(CheckTags(profile.required_tags, ErrorReason::kBadProfile), "required_tags");
}

std::shared_ptr<const NavMesh> ViewUnder(const NavMesh& mesh, const AreaCosts& costs) {
  // The memory of views beyond the first eight, in sizes of the mesh.
  constexpr std::size_t kMostSizes = 8;
  const auto make = [&](const NavMesh* before) -> std::shared_ptr<const NavMesh> {
    absl::StatusOr<NavMesh> view = MakeView(mesh, costs, before);
    // The same holes cut the same polygons of the mesh itself.
    return view.ok() ? std::make_shared<const NavMesh>(*std::move(view)) : nullptr;
  };
  return mesh.views().Get(costs, make, kMostSizes * mesh.own_bytes(),
                          [&](const NavMesh* view) { return view == nullptr ? 0 : view->BytesBeyond(mesh); });
}

std::size_t WorkOfView(const NavMesh& mesh, const AreaCosts& costs) {
  const std::shared_ptr<const NavMesh> before = mesh.views().FindHeld(costs);
  if (before == nullptr) {
    return mesh.polygon_count() + mesh.obstacles().size() + mesh.portals().size();
  }
  std::size_t work = mesh.portals().size();
  before->obstacles().VisitDifferences(mesh.obstacles(), [&](const Obstacle& /*obstacle*/) { ++work; });
  return work;
}

absl::StatusOr<NavMesh> WithSurfacesUpdated(const NavMesh& mesh, const StopCheck* stop) {
  std::vector<NavMesh> surfaces;
  for (const NavMesh& surface : mesh.larger()) {
    absl::StatusOr<NavMesh> updated = WithElementsOf(mesh, surface, stop);
    if (!ErrorReasonOf(updated.status()).empty()) {
      return MakeError(ErrorReason::kRegionTooLarge, "",
                       absl::StrCat("on the surface for agents of radius ", surface.agent_radius(), ": ",
                                    updated.status().message()));
    }
    WAYSTAR_RETURN_IF_ERROR(updated.status());
    surfaces.push_back(*std::move(updated));
  }
  return mesh.WithLarger(std::move(surfaces));
}

}  // namespace waystar::core
