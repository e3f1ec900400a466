// Views of a navigation mesh: the mesh as seen by agents that pay other costs, or are larger.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_terrain.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Returns CostsUnder on a surface of the map. Terrains that the rules name may be on any surface of the map.
absl::StatusOr<AreaCosts> CostsOn(const NavMesh& surface, const NavMesh& map, GroundRules rules);

// Checks all of a profile but its name. Returns the errors of CostsOn the surface for the smallest agents,
// and INVALID_ARGUMENT / BAD_PROFILE with "required_tags[0]".
absl::Status CheckProfile(const MeshProfile& profile, const NavMesh& map);

// Returns the mesh with other costs (NavMesh::WithCosts), with its obstacles and portals, from its views. The
// first call costs what NavMesh::Create and the obstacles do; after edits, it costs what they changed.
// REQUIRES: the costs differ from those of the mesh.
std::shared_ptr<const NavMesh> ViewUnder(const NavMesh& mesh, const AreaCosts& costs);

// Returns the number of polygons and obstacles that ViewUnder looks at.
std::size_t WorkOfView(const NavMesh& mesh, const AreaCosts& costs);

// Returns the mesh with these obstacles in place of its own, and the errors of ChangeHoles. Costs what the
// differences do.
absl::StatusOr<NavMesh> ReplaceObstacles(const NavMesh& mesh, const ObstacleTable& obstacles,
                                         const StopCheck* stop = nullptr);

// Returns the mesh with its larger surfaces brought up to its obstacles and portals. Costs what the
// differences do, as in ChangeHoles, and a comparison of all portals if any differs. Returns the errors of
// ChangeHoles; the message of REGION_TOO_LARGE names the radius of the surface.
absl::StatusOr<NavMesh> WithSurfacesUpdated(const NavMesh& mesh, const StopCheck* stop = nullptr);

}  // namespace waystar::core
