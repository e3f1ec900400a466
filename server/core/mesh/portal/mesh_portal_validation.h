// Validation of a path on navigation meshes through portals.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_world.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Passage of a path through a portal, as reported with the path.
struct CrossedMeshPortal {
  std::string id;
  WorldPoint arrival;
  // Number of corners of the path before it.
  std::size_t index = 0;
};

// ValidateMeshPath for each leg on its own mesh. A portal that was removed, closed or changed, or lacks a
// tag, blocks the path from the corner behind it; its ends may differ by kMeshTolerance. The cost includes
// portals.
//
// Returns the errors of ValidateMeshPath and of CheckCrossingIndices.
// REQUIRES: the tags are sorted.
absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget = {});

}  // namespace waystar::core
