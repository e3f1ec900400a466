// The agent of a query on a navigation mesh: the mesh that it sees.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/core/edit/overlay.h"
#include "server/core/mesh/mesh_cut.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Thread safety: immutable, so any number of threads may read it.
class MeshAgent {
 public:
  // Resolves an agent on a snapshot, which must outlive it, as must the account of the memory that an overlay
  // takes. Returns the errors of CheckAgentOnMesh; those of CheckShape, of OutlinesOf and of CutHoles below
  // "view.overlay.blocked", and of CheckIgnoredObstacles below "view."; RESOURCE_EXHAUSTED / BATCH_TOO_LARGE
  // with "view.overlay.blocked" for a shape of too many parts, or MAPS_MEMORY_FULL with
  // "view.overlay"; and those of BeginUpkeep. An overlay costs O(corners of the mesh).
  //
  // REQUIRES: the snapshot is a navigation mesh.
  static absl::StatusOr<std::shared_ptr<const MeshAgent>> Make(const MapSnapshot& snapshot,
                                                               const AgentQuery& query,
                                                               MemoryAccount& account, const Budget& budget);

  // Returns the mesh with the overlay of the query.
  const NavMesh& mesh() const { return cut_.has_value() ? cut_->mesh : plain_; }
  // Returns the number that a polygon of mesh(), or the one that it is a piece of, has on the map.
  PolygonNumber NumberOnMap(PolygonNumber polygon) const {
    return cut_.has_value() ? cut_->sources[polygon] : polygon;
  }

 private:
  explicit MeshAgent(const NavMesh& plain) : plain_(plain) {}

  absl::Status TakeOverlay(const Overlay& overlay, MemoryAccount& account, const Budget& budget);

  const NavMesh plain_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<CutMesh> cut_;
};

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field of what other kinds of maps have.
absl::Status CheckAgentOnMesh(const AgentQuery& agent);

}  // namespace waystar::core
