// Shortest paths on navigation meshes that lead through portals.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_portal.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_portal/mesh_portal_net.h"
#include "server/core/mesh_search/interval_recorder.h"
#include "server/core/mesh_search/mesh_matrix.h"
#include "server/core/mesh_search/mesh_query.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct MeshPortalQuery {
  MeshQuery path;
  // The id of the map that the goals lie on; empty if it is the start's.
  absl::string_view goal_map;
};

// A place where a path goes through a portal. It refers to the net that was searched.
struct MeshCrossing {
  // The portal, which belongs to the map that it leads from.
  const PlacedPortal* portal = nullptr;
  // If true, it is passed from `to` to `from`.
  bool is_reversed = false;
  // The id of the map that it leads to; empty if that is the one that the query starts on.
  absl::string_view map;
  WorldPoint arrival;
  // How many corners of the path lie before it, and how many polygons of the corridor.
  std::size_t index = 0;
  std::size_t corridor_index = 0;
};

struct MeshPortalPath {
  // The path of all legs together: a leg ends where a portal begins, and the next begins where it leads to.
  // The cost is the sum of the lengths of the legs and the costs of the portals. The corridor is that of all
  // legs, whose polygons are those of their maps.
  MeshPathResult path;
  std::vector<MeshCrossing> crossings;
};

// As FindMeshPath, but through portals too: finds a cheapest path of legs along meshes and of portals. Among
// equally cheap paths one without portals is preferred. With UnreachablePolicy::kNearestByDistance the path
// leads to the point of the goal's map that is nearest to the goal, by NavMesh::FindNearest, of those that
// can be reached.
//
// Where no portal can shorten the way, it costs as much as FindMeshPath and what MeshDoors::Find does. Else
// one search more goes on over all meshes at once: each mesh has a wave of intervals (see MeshWave), which
// begins where a portal leads there, and the wave goes on whose first interval promises the shortest path.
//
// A recorder receives the steps of the search without portals alone.
//
// Returns the errors of FindMeshPath, and NOT_FOUND / MAP_NOT_FOUND with field "goal_map".
//
// Thread safety: it only reads the meshes; `scratch` and `net` belong to the caller's thread.
absl::StatusOr<MeshPortalPath> FindMeshPathThroughPortals(MeshPortalNet& net, const MeshPortalQuery& query,
                                                          const Budget& budget, MeshScratch& scratch,
                                                          IntervalRecorder* recorder = nullptr);

// As ComputeMeshMatrix, for the map that queries start on, but through portals too, with a search for each
// start and goal.
absl::StatusOr<MeshMatrix> ComputeMatrixThroughMeshPortals(MeshPortalNet& net,
                                                           absl::Span<const MeshPlace> starts,
                                                           absl::Span<const MeshPlace> goals,
                                                           const Budget& budget, MeshScratch& scratch);

}  // namespace waystar::core
