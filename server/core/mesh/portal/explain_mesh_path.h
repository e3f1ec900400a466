// Why there is no path on a navigation mesh.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/memory_account.h"
#include "server/core/elements/obstacle.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
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
  // Tags that a portal must have; sorted.
  absl::Span<const std::string> required_tags = {};
  MemoryAccount& memory;
};

struct MeshExplanation : Explanation {
  // Corners of the path, as in MeshPortalPath, and the portals that it takes. These are owned by the mesh.
  std::vector<WorldPoint> corners = {};
  std::vector<MeshCrossing> crossings = {};
};

// Finds a path through blockers whose length, portals and prices together cost least (SearchDivided). Without
// the blockers that it names, the path is legal; fewer might do. It stays on the map. A closed portal is a
// blocker. Where a leg begins behind a portal, each blocker around that place is entered.
//
// Where there are no portals and no overlay, and a legal path costs less than any that enters a blocker, this
// takes two searches. Otherwise the mesh is divided by the blockers that the cheapest path enters, and the
// path is searched for again, until it enters no others.
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
