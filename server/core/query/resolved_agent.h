// The agent of a query on a grid: its movement, its view of the map, and the maps it can reach.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/agent.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/other_maps.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

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
    return view_ != nullptr ? *view_ : snapshot_.grid();
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

}  // namespace waystar::core
