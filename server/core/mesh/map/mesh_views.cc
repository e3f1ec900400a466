#include "server/core/mesh/map/mesh_views.h"

#include <utility>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/mesh_portals.h"

namespace waystar::core {
namespace {

// Adds the holes of obstacles that only one of two meshes has to those that the change removes or adds.
absl::Status AddDifferences(const NavMesh& before, const NavMesh& after, HoleChange& change) {
  absl::Status status;
  before.obstacles().VisitDifferences(after.obstacles(), [&](const Obstacle& obstacle) {
    absl::StatusOr<HoleList> holes = HolesOf(obstacle, after.agent_radius());
    status.Update(holes.status());
    if (holes.ok()) {
      HoleList& list = after.obstacles().Find(obstacle.id).get() == &obstacle ? change.added : change.removed;
      list.insert(list.end(), holes->begin(), holes->end());
    }
  });
  return status;
}

// Returns the view with the obstacles and portals of the mesh.
absl::StatusOr<NavMesh> WithElementsOf(const NavMesh& mesh, const NavMesh& view) {
  HoleChange change;
  WAYSTAR_RETURN_IF_ERROR(AddDifferences(view, mesh, change));
  WAYSTAR_ASSIGN_OR_RETURN(NavMesh with, ChangeHoles(view, change));
  with = with.WithObstacles(mesh.obstacles());
  MeshPortalTable portals(mesh.polygon_count());
  mesh.portals().VisitAfter("", [&](const PlacedPortal& portal) {
    portals.Put(std::make_shared<const PlacedPortal>(with.Placed(portal)));
    return true;
  });
  return with.WithPortals(std::move(portals));
}

absl::StatusOr<NavMesh> MakeView(const NavMesh& mesh, const AreaCosts& costs, const NavMesh* before) {
  if (before != nullptr) {
    return WithElementsOf(mesh, *before);
  }
  const NavMesh bare = mesh.WithCuts(nullptr)
                           .WithObstacles(ObstacleTable(Rectangle()))
                           .WithPortals(MeshPortalTable(mesh.polygon_count()));
  WAYSTAR_ASSIGN_OR_RETURN(const NavMesh view, bare.WithCosts(costs));
  return WithElementsOf(mesh, view);
}

}  // namespace

std::shared_ptr<const NavMesh> ViewUnder(const NavMesh& mesh, const AreaCosts& costs) {
  // What the views of a mesh may take beyond the first eight, in sizes of the mesh.
  constexpr std::size_t kMostSizes = 8;
  const auto make = [&](const NavMesh* before) -> std::shared_ptr<const NavMesh> {
    absl::StatusOr<NavMesh> view = MakeView(mesh, costs, before);
    // The same holes cut the same polygons of the mesh itself.
    return view.ok() ? std::make_shared<const NavMesh>(*std::move(view)) : nullptr;
  };
  return mesh.views().Get(costs, make, kMostSizes * mesh.memory_bytes(),
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

}  // namespace waystar::core
