// Why there is no path on a navigation mesh.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/core/elements/obstacle.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/blockers.h"
#include "server/core/search/query.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A mesh whose obstacles may be passed.
struct BlockedMesh {
  // The mesh without an overlay.
  const NavMesh& mesh;
  // Ids of obstacles that the overlay ignores.
  absl::Span<const std::string> ignored = {};
  // Area that the overlay blocks at these heights; null for none.
  const Shape* area = nullptr;
  HeightRange area_heights = {};
  MemoryAccount& memory;
};

struct MeshExplanation : Explanation {
  // Corners of the path, stored in the scratch until its next search.
  absl::Span<const WorldPoint> corners = {};
};

// Finds a path through blockers whose length and prices together are lowest (SearchDivided). Without the
// blockers that it names, the path is legal; fewer might do. Portals are not used. Dividing the mesh takes as
// long as putting all obstacles.
//
// Only the start, the first goal and the snap of the query count.
//
// Returns the errors of CheckPrices, CheckMeshQuery, CheckEntries, FindMeshStart, FindMeshGoals and
// DivideByHoles; RESOURCE_EXHAUSTED / REGION_TOO_LARGE without a field if a limit ends the search;
// MAPS_MEMORY_FULL without a field; and the errors of InterruptionError.
absl::StatusOr<MeshExplanation> ExplainMeshPath(const BlockedMesh& blocked, const MeshQuery& query,
                                                const BlockerPrices& prices, const Budget& budget,
                                                MeshScratch& scratch);

}  // namespace waystar::core
