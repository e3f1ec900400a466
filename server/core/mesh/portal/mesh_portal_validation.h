// Validation of a path on navigation meshes through portals.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

using CrossedMeshPortal = CrossedPortalAt<WorldPoint>;

// ValidateMeshPath for each leg on its own mesh: see ValidateLegs. The ends of portals may differ by
// kMeshTolerance.
// REQUIRES: the tags are sorted.
absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget = {});

}  // namespace waystar::core
