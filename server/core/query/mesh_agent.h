// The agent of a query on a navigation mesh: its view of the mesh.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/memory_account.h"
#include "server/core/edit/overlay.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/query/other_maps.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Thread safety: none, since Find pins other maps. mesh() and required_tags() may be read by any number of
// threads.
class MeshAgent final : public MeshWorld {
 public:
  // Resolves an agent on a snapshot. The snapshot must outlive it, as must the store of `others`, whose
  // memory account holds an overlay. An overlay costs O(corners of the mesh).
  //
  // Returns the errors of CheckAgentOnMesh and BeginUpkeep; those of CheckShape, OutlinesOf and CutHoles
  // below "view.overlay.blocked", and of CheckIgnoredObstacles below "view."; RESOURCE_EXHAUSTED /
  // BATCH_TOO_LARGE with "view.overlay.blocked" for a shape of too many parts, or MAPS_MEMORY_FULL with
  // "view.overlay".
  // REQUIRES: the snapshot is a navigation mesh.
  static absl::StatusOr<std::shared_ptr<MeshAgent>> Make(const MapSnapshot& snapshot, const AgentQuery& query,
                                                         OtherMaps others, const Budget& budget);

  // Returns the mesh with the query's overlay.
  const NavMesh& mesh() const { return cut_.has_value() ? cut_->mesh : plain_; }
  // Returns the sorted tags that a portal must have to be usable by the agent.
  const std::vector<std::string>& required_tags() const { return required_tags_; }

  // Pins the map on the first call. Returns null if the map is not a navigation mesh, or the agent may not
  // visit it.
  const NavMesh* Find(absl::string_view id) override;
  // Ground removed by an overlay is not replaced by another floor above or below it.
  std::optional<MeshPlace> PlaceOn(const NavMesh& mesh, const WorldPoint& position) const override;
  // Returns the portals that the agent can use.
  MeshPortalNet& portals() { return *portals_; }
  // Returns the version of a map returned by Find.
  MapVersion VersionOf(absl::string_view id) const;

  // Returns the number on the original mesh of a polygon of mesh(), or of the polygon that it was cut from.
  PolygonNumber NumberOnMap(PolygonNumber polygon) const {
    return cut_.has_value() ? cut_->sources[polygon] : polygon;
  }

 private:
  MeshAgent(const MapSnapshot& snapshot, OtherMaps others)
      : snapshot_(snapshot), plain_(snapshot.mesh()), others_(std::move(others)) {}

  absl::Status TakeOverlay(const Overlay& overlay, const Budget& budget);
  // Returns the place on the cut mesh next to a place of the plain mesh, on a remainder of the polygons
  // around it.
  std::optional<MeshPlace> LeftOf(const MeshPlace& plain) const;

  const MapSnapshot& snapshot_;
  const NavMesh plain_;
  const OtherMaps others_;
  std::vector<std::string> required_tags_;
  // The maps that Find was called for, including those not found.
  std::vector<std::pair<std::string, std::optional<PinnedSnapshot>>> visited_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<CutMesh> cut_;
  std::optional<MeshPortalNet> portals_;
};

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field of an option that meshes do not support.
absl::Status CheckAgentOnMesh(const AgentQuery& agent);

}  // namespace waystar::core
