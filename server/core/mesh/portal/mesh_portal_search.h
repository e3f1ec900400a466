// Shortest paths on navigation meshes through portals, and validation of paths that were found earlier.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_fields.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/portal/portal_net.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

struct MeshPortalQuery {
  MeshQuery path;
  // Id of the goals' map; empty if it is the start's.
  absl::string_view goal_map;
};

// Crossing of a portal on a path. Refers to the net that was searched.
struct MeshCrossing : Crossing<PlacedPortal, WorldPoint> {
  // Number of polygons of the corridor before it.
  std::size_t corridor_index = 0;
};

struct MeshPortalPath {
  // Path of all legs together: a leg ends where a portal starts, and the next begins where it leads. The cost
  // is the sum of the lengths of the legs and the costs of the portals. The corridor is that of all legs; its
  // polygons are numbered by their own maps.
  MeshPathResult path;
  std::vector<MeshCrossing> crossings;
};

// FindMeshPath extended by portals: finds a cheapest path of legs along meshes and of portals. Among paths of
// equal cost, one without portals is preferred. With UnreachablePolicy::kNearestByDistance the path leads to
// the reachable point of the goal's map nearest to the goal, by NavMesh::FindNearest.
//
// If no portal can shorten the path, the cost is that of FindMeshPath plus MeshDoors::Find. Otherwise another
// search runs over all meshes at once. Each mesh has a wave of intervals (see MeshWave) that starts where
// portals arrive; the wave whose first interval has the lowest f advances.
//
// The recorder only gets the steps of the search without portals.
//
// Returns the errors of FindMeshPath, and NOT_FOUND / MAP_NOT_FOUND with field "goal_map".
//
// Thread safety: only reads the meshes; `scratch` and `net` belong to the caller's thread.
absl::StatusOr<MeshPortalPath> FindMeshPathThroughPortals(MeshPortalNet& net, const MeshPortalQuery& query,
                                                          const Budget& budget, MeshScratch& scratch,
                                                          IntervalRecorder* recorder = nullptr);

// ComputeMeshMatrix extended by portals, for the map that queries start on. Runs one search per start and
// goal.
absl::StatusOr<MeshMatrix> ComputeMatrixThroughMeshPortals(MeshPortalNet& net,
                                                           absl::Span<const MeshPlace> starts,
                                                           absl::Span<const MeshPlace> goals,
                                                           const Budget& budget, MeshScratch& scratch);

using CrossedMeshPortal = CrossedPortalAt<WorldPoint>;

// Validates each leg on its own mesh, as ValidateMeshPath does; see ValidateLegs. The ends of portals may
// differ by kMeshTolerance.
// REQUIRES: the tags are sorted.
absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget = {});

}  // namespace waystar::core
