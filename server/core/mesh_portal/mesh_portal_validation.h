// Validation of a path on navigation meshes that leads through portals.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_portal/mesh_world.h"
#include "server/core/mesh_search/mesh_path_check.h"
#include "server/core/search/query.h"

namespace waystar::core {

// A place where a path goes through a portal, as the path's answer said.
struct CrossedMeshPortal {
  std::string id;
  WorldPoint arrival;
  // How many corners of the path lie before it.
  std::size_t index = 0;
};

// As ValidateMeshPath, with each leg on the mesh that it lies on. A portal that is gone or closed, leads
// elsewhere now, or lacks a tag blocks the path from the corner behind it; where it ends may differ by
// kMeshTolerance. Its cost counts.
//
// Returns the errors of ValidateMeshPath and of CheckCrossingIndices. REQUIRES: the tags are sorted.
absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget = {});

}  // namespace waystar::core
