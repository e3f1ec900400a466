// Agents of queries on maps of each kind: their movement and their views of the map.
#pragma once

#include <cstdint>
#include <functional>
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
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/agent.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"

namespace waystar::core {

// The maps of the store that `may_visit` allows. Other maps do not exist for the agent.
struct OtherMaps {
  const MapStore& store;
  std::function<bool(absl::string_view id)> may_visit;
  // Receives MAP_LOADING if a map that the agent may visit is not in memory. The search then continues
  // without the map, and its answer must not be used. May be null.
  absl::Status* missing = nullptr;

  // Returns null if the agent cannot visit the map.
  PinnedSnapshot Find(absl::string_view id) const {
    if (!may_visit(id)) {
      return nullptr;
    }
    absl::StatusOr<PinnedSnapshot> snapshot = store.Pin(id);
    if (!snapshot.ok() && missing != nullptr && !LoadingMapOf(snapshot.status()).empty()) {
      *missing = snapshot.status();
    }
    return snapshot.ok() ? *std::move(snapshot) : nullptr;
  }
};

// The agent of a query on a grid: its movement, its view of the map, and the maps it can reach.
//
// Thread safety: none, since Find pins other maps. map() and the movement accessors may be read by any number
// of threads.
class ResolvedAgent final : public World {
 public:
  // Resolves an agent on a snapshot; `by_jumps` says whether jump searches will use it. The snapshot, the
  // query, the store of `others` and the budget's upkeep must outlive it. Builds missing search data
  // (MakeReady).
  //
  // Errors:
  // - those of GridOf and BeginUpkeep;
  // - INVALID_ARGUMENT / BAD_VALUE, "agent.footprint";
  // - those of CheckProfile below "agent.profile.";
  // - INVALID_ARGUMENT / BAD_PROFILE or NOT_FOUND / PROFILE_NOT_FOUND, "agent.profile_name";
  // - those of WithOverlay below "view.";
  // - RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL, "agent.profile", "agent.profile_name" or "agent.footprint": no
  //   memory for the agent's view or walk grid.
  static absl::StatusOr<std::unique_ptr<ResolvedAgent>> Make(const MapSnapshot& snapshot,
                                                             const AgentQuery& query, OtherMaps others,
                                                             bool by_jumps, const Budget& budget);

  ResolvedAgent(const ResolvedAgent&) = delete;
  ResolvedAgent& operator=(const ResolvedAgent&) = delete;

  // Returns the query's map with the agent's terrain view and the overlay: the map to search, validate or
  // measure.
  const GridMap& map() const {
    if (overlaid_.has_value()) {
      return *overlaid_;
    }
    return map_before_overlay();
  }
  // Returns the same without the overlay.
  const GridMap& map_before_overlay() const { return view_ != nullptr ? *view_ : snapshot_.grid(); }
  // Returns the area that the overlay blocks, or null.
  const Shape* blocked_area() const {
    return query_.overlay.has_value() && !query_.overlay->blocked.empty() ? &query_.overlay->blocked
                                                                          : nullptr;
  }
  // Returns the snapshot that the agent was resolved on.
  const MapSnapshot& snapshot() const { return snapshot_; }
  CornerRule corner_rule() const { return corner_rule_; }
  // Returns the side length of the agent in cells, from 1 to kMaxFootprint.
  int footprint() const { return footprint_; }
  // Returns the sorted tags that a link must have to be usable by the agent.
  const std::vector<std::string>& required_tags() const { return required_tags_; }
  // Returns the three fields above together. The agent must outlive the result.
  Agent agent() const {
    return {.corner_rule = corner_rule_, .footprint = footprint_, .required_tags = required_tags_};
  }

  // Pins the map on the first call and returns the agent's view of it. Returns null if the map is of another
  // world, is not a grid, lacks the profile named by the query, or may not be visited by the agent.
  const GridMap* Find(absl::string_view id) override;

  // Returns the version of a map returned by Find.
  MapVersion VersionOf(absl::string_view id) const { return SnapshotOf(id).version(); }
  // Returns the board of a map returned by Find; nullopt for squares.
  const std::optional<HexBoard>& BoardOf(absl::string_view id) const {
    return SnapshotOf(id).grid().settings().frame.hexagons;
  }

 private:
  struct Visited {
    PinnedSnapshot snapshot;
    // Null if the agent may not enter the map.
    std::unique_ptr<const ResolvedAgent> agent;
  };

  ResolvedAgent(const MapSnapshot& snapshot, const AgentQuery& query, OtherMaps others, const Budget& budget);

  // Returns the snapshot of a map that was found; the agent's own for any other id.
  const MapSnapshot& SnapshotOf(absl::string_view id) const;

  absl::Status TakeProfile();
  absl::Status MakeView(const TerrainRules& rules);
  absl::Status TakeOverlay();

  const MapSnapshot& snapshot_;
  const AgentQuery& query_;
  const OtherMaps others_;
  const Budget budget_;
  // The profile's view of the map. Null if it equals the map.
  std::shared_ptr<const GridMap> view_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<GridMap> overlaid_;
  CornerRule corner_rule_ = CornerRule::kNoCornerCutting;
  int footprint_ = 1;
  std::vector<std::string> required_tags_;
  std::vector<Visited> visited_;
};

// The agent of a query on a waypoint graph: its required tags and its view of the graph.
//
// Thread safety: immutable.
class GraphAgent {
 public:
  // Resolves an agent on a snapshot. The snapshot and the account, which holds the memory of an overlay, must
  // outlive it. Returns the errors of CheckAgent and BeginUpkeep, those of WithGraphOverlay below
  // "view.", and RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL with "view.overlay".
  // REQUIRES: the snapshot is a waypoint graph.
  static absl::StatusOr<std::shared_ptr<const GraphAgent>> Make(const MapSnapshot& snapshot,
                                                                const AgentQuery& query,
                                                                MemoryAccount& account, const Budget& budget);

  // Returns the graph with the query's overlay.
  const WaypointGraph& graph() const { return overlaid_.has_value() ? *overlaid_ : plain_; }
  // Returns the tags that an edge must have to be usable by the agent.
  const std::vector<std::string>& required_tags() const { return required_tags_; }

 private:
  explicit GraphAgent(const WaypointGraph& plain) : plain_(plain) {}

  absl::Status TakeOverlay(const Overlay& overlay, MemoryAccount& account, const Budget& budget);

  const WaypointGraph& plain_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<WaypointGraph> overlaid_;
  std::vector<std::string> required_tags_;
};

// The agent of a query on a navigation mesh: its view of the mesh.
//
// Thread safety: none, since Find pins other maps. mesh() and required_tags() may be read by any number of
// threads.
class MeshAgent final : public MeshWorld {
 public:
  // Resolves an agent on a snapshot. The snapshot must outlive it, as must the store of `others`, whose
  // memory account holds an overlay. An overlay costs what ChangeHoles does. Terrains that the profile names
  // may be on any surface of the map.
  //
  // Returns the errors of CheckAgent and BeginUpkeep; BAD_VALUE with "agent.radius" if the mesh has no
  // surface for agents as large; those of CostsUnder below "agent.profile.", and MAPS_MEMORY_FULL with
  // "agent.profile"; with "agent.profile_name" these, BAD_PROFILE and NOT_FOUND / PROFILE_NOT_FOUND; those of
  // CheckShape, HolesOf and ChangeHoles below "view.overlay.blocked", and of CheckIgnoredObstacles below
  // "view."; RESOURCE_EXHAUSTED / BATCH_TOO_LARGE with "view.overlay.blocked" for a shape of too many parts,
  // or MAPS_MEMORY_FULL with "view.overlay". REQUIRES: the snapshot is a navigation mesh.
  static absl::StatusOr<std::shared_ptr<MeshAgent>> Make(const MapSnapshot& snapshot, const AgentQuery& query,
                                                         OtherMaps others, const Budget& budget);

  const MapSnapshot& snapshot() const { return snapshot_; }
  // Returns the surface for agents of its size as the agent's profile sees it, with the query's overlay.
  const NavMesh& mesh() const { return cut_.has_value() ? *cut_ : plain_; }
  // Returns the same without the overlay.
  const NavMesh& mesh_before_overlay() const { return plain_; }
  // Returns the sorted tags that a portal must have to be usable by the agent.
  const std::vector<std::string>& required_tags() const { return required_tags_; }

  // Pins the map on the first call, and returns the agent's view of it. Returns null if the map is not a
  // navigation mesh, lacks a terrain that the profile names, the profile that the query names, or a surface
  // for agents as large, or may not be visited by the agent.
  const NavMesh* Find(absl::string_view id) override;
  // Returns the portals that the agent can use.
  MeshPortalNet& portals() { return *portals_; }
  // Returns the version of a map returned by Find.
  MapVersion VersionOf(absl::string_view id) const;
  // Returns true if ground does not cost the agent 1, here or on a map returned by Find.
  bool IsWeighted() const;

  // Returns the number on the original mesh of a polygon of mesh(), or of the polygon that it was cut from.
  PolygonNumber NumberOnMap(PolygonNumber polygon) const { return mesh().WholeOf(polygon); }

 private:
  struct Visited {
    std::string id;
    PinnedSnapshot snapshot;
    // Null if the agent may not enter the map.
    std::unique_ptr<const NavMesh> view;
  };

  MeshAgent(const MapSnapshot& snapshot, NavMesh view, const AgentQuery& query, OtherMaps others,
            const Budget& budget);

  absl::Status TakeOverlay(const Overlay& overlay, const Budget& budget);

  const MapSnapshot& snapshot_;
  const NavMesh plain_;
  const std::optional<std::string> profile_name_;
  const GroundRules ground_;
  const double radius_;
  const OtherMaps others_;
  const Budget budget_;
  std::vector<std::string> required_tags_;
  // The maps that Find was called for, including those not found.
  std::vector<Visited> visited_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<NavMesh> cut_;
  std::optional<MeshPortalNet> portals_;
};

// Returns UNIMPLEMENTED / NOT_IMPLEMENTED with "agent.profile.terrain_costs" if MeshAgent::IsWeighted, for
// questions that only know lengths.
absl::Status CheckUnweighted(const MeshAgent& agent);

// Cells scanned in the time of one expansion, in work over the whole map.
inline constexpr std::uint64_t kCellsPerExpansion = 256;

// Charges the budget's upkeep for work over `cells` cells, before the work begins. Returns UpkeepError if too
// little is left, or the errors of InterruptionError.
absl::Status BeginUpkeep(const Budget& budget, std::uint64_t cells);

// Builds the data for agents of this size and corner rule if it is missing: the walk grid of the cells where
// the agent fits, the components, the cost floor and, for jump searches, their index. After edits and in
// overlays, this data is updated in proportion to the change.
//
// Returns the errors of BeginUpkeep, and MAPS_MEMORY_FULL with field "agent.footprint" if the walk grid does
// not fit in memory.
// REQUIRES: 1 <= footprint <= kMaxFootprint.
absl::Status MakeReady(const GridMap& map, int footprint, CornerRule rule, bool by_jumps,
                       const Budget& budget);

}  // namespace waystar::core
