// The agent of a query on a navigation mesh: the mesh that it sees.
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
#include "server/core/mesh/mesh_cut.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_portal/mesh_portal_net.h"
#include "server/core/mesh_portal/mesh_world.h"
#include "server/core/query/other_maps.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_version.h"

namespace waystar::core {

// Thread safety: none, because looking for another map pins it. The mesh of the query itself, and the tags,
// may be read by any number of threads.
class MeshAgent final : public MeshWorld {
 public:
  // Resolves an agent on a snapshot, which must outlive it, as must the store of `others`, in whose account
  // of memory an overlay is. Returns the errors of CheckAgentOnMesh; those of CheckShape, of OutlinesOf and
  // of CutHoles below "view.overlay.blocked", and of CheckIgnoredObstacles below "view."; RESOURCE_EXHAUSTED
  // / BATCH_TOO_LARGE with "view.overlay.blocked" for a shape of too many parts, or MAPS_MEMORY_FULL with
  // "view.overlay"; and those of BeginUpkeep. An overlay costs O(corners of the mesh).
  //
  // REQUIRES: the snapshot is a navigation mesh.
  static absl::StatusOr<std::shared_ptr<MeshAgent>> Make(const MapSnapshot& snapshot, const AgentQuery& query,
                                                         OtherMaps others, const Budget& budget);

  // Returns the mesh with the overlay of the query.
  const NavMesh& mesh() const { return cut_.has_value() ? cut_->mesh : plain_; }
  // Returns the tags, sorted, that a portal must have for the agent to pass it.
  const std::vector<std::string>& required_tags() const { return required_tags_; }

  // Pins another map when it is first asked for. Returns null for one that is no navigation mesh, and for one
  // that the agent may not visit.
  const NavMesh* Find(absl::string_view id) override;
  // Where an overlay has taken the ground away, no other floor takes its place.
  std::optional<MeshPlace> PlaceOn(const NavMesh& mesh, const WorldPoint& position) const override;
  // Returns the portals that the agent can pass.
  MeshPortalNet& portals() { return *portals_; }
  // Returns the version of a map that was found.
  MapVersion VersionOf(absl::string_view id) const;

  // Returns the number that a polygon of mesh(), or the one that it is a piece of, has on the map.
  PolygonNumber NumberOnMap(PolygonNumber polygon) const {
    return cut_.has_value() ? cut_->sources[polygon] : polygon;
  }

 private:
  MeshAgent(const MapSnapshot& snapshot, OtherMaps others)
      : snapshot_(snapshot), plain_(snapshot.mesh()), others_(std::move(others)) {}

  absl::Status TakeOverlay(const Overlay& overlay, const Budget& budget);
  // Returns the place on what is left of the polygons around a place of the plain mesh.
  std::optional<MeshPlace> LeftOf(const MeshPlace& plain) const;

  const MapSnapshot& snapshot_;
  const NavMesh plain_;
  const OtherMaps others_;
  std::vector<std::string> required_tags_;
  // The maps that were looked for, also those that there are none of.
  std::vector<std::pair<std::string, std::optional<PinnedSnapshot>>> visited_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<CutMesh> cut_;
  std::optional<MeshPortalNet> portals_;
};

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field of what other kinds of maps have.
absl::Status CheckAgentOnMesh(const AgentQuery& agent);

}  // namespace waystar::core
