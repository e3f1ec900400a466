// The agent of a query on a grid: how it moves, the map that it sees, and the maps that portals lead it to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/query/other_maps.h"
#include "server/core/query/route_query.h"
#include "server/core/search/agent.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Thread safety: none, because looking for another map pins it. The map of the query itself, and how the
// agent moves, may be read by any number of threads.
class ResolvedAgent final : public World {
 public:
  // Resolves an agent on a snapshot, for searches by jumps or for other questions. Both arguments, the store
  // of `others` and the budget's upkeep must outlive it. What it needs of the map is made if it is not there:
  // see MakeReady.
  //
  // Returns the errors of GridOf, BeginUpkeep; INVALID_ARGUMENT / BAD_VALUE with field
  // "agent.footprint"; those of CheckProfile below "agent.profile."; INVALID_ARGUMENT / BAD_PROFILE and
  // NOT_FOUND / PROFILE_NOT_FOUND with field "agent.profile_name"; those of WithOverlay below "view.";
  // RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL with field "agent.profile", "agent.profile_name" or
  // "agent.footprint" if there is no memory for the map as that agent sees it.
  static absl::StatusOr<std::unique_ptr<ResolvedAgent>> Make(const MapSnapshot& snapshot,
                                                             const AgentQuery& query, OtherMaps others,
                                                             bool by_jumps, const Budget& budget);

  ResolvedAgent(const ResolvedAgent&) = delete;
  ResolvedAgent& operator=(const ResolvedAgent&) = delete;

  // Returns the query's map with the agent's view of terrains and the overlay: the map to search, validate or
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
  // Returns the side of the agent, from 1 to kMaxFootprint.
  int footprint() const { return footprint_; }
  // Returns the tags, sorted, that a link must have for the agent to use it.
  const std::vector<std::string>& required_tags() const { return required_tags_; }
  // Returns all three together. The agent must outlive the result.
  Agent agent() const {
    return {.corner_rule = corner_rule_, .footprint = footprint_, .required_tags = required_tags_};
  }

  // Pins another map when it is first asked for, and returns it as this agent sees it. Returns null for a map
  // of another world, for one that is not a grid, for one that has no profile of the name that the query
  // gives, and for one that the agent may not visit.
  const GridMap* Find(absl::string_view id) override;

  // Returns the version of a map that was found.
  MapVersion VersionOf(absl::string_view id) const { return SnapshotOf(id).version(); }
  // Returns the board of a map that was found; none if it has squares.
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
  // The profile's view of the map, if it sees other terrains than the map has.
  std::shared_ptr<const GridMap> view_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<GridMap> overlaid_;
  CornerRule corner_rule_ = CornerRule::kNoCornerCutting;
  int footprint_ = 1;
  std::vector<std::string> required_tags_;
  std::vector<Visited> visited_;
};

}  // namespace waystar::core
