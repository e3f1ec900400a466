// The agent of a query on a waypoint graph: the tags that it requires, and the graph that it sees.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Thread safety: immutable, so any number of threads may read it.
class GraphAgent {
 public:
  // Resolves an agent on a snapshot, which must outlive it, as must the account of the memory that an overlay
  // takes. Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field of what only grids have, the errors of
  // WithGraphOverlay below "view.", RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL with "view.overlay", and those of
  // BeginUpkeep.
  //
  // REQUIRES: the snapshot is a waypoint graph.
  static absl::StatusOr<std::shared_ptr<const GraphAgent>> Make(const MapSnapshot& snapshot,
                                                                const AgentQuery& query,
                                                                MemoryAccount& account, const Budget& budget);

  // Returns the graph with the overlay of the query.
  const WaypointGraph& graph() const { return overlaid_.has_value() ? *overlaid_ : plain_; }
  // Returns the tags that an edge must have for the agent to use it.
  const std::vector<std::string>& required_tags() const { return required_tags_; }

 private:
  explicit GraphAgent(const WaypointGraph& plain) : plain_(plain) {}

  absl::Status TakeOverlay(const Overlay& overlay, MemoryAccount& account, const Budget& budget);

  const WaypointGraph& plain_;
  MemoryAccount::Reservation overlay_memory_;
  std::optional<WaypointGraph> overlaid_;
  std::vector<std::string> required_tags_;
};

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field of what only grids have.
absl::Status CheckAgentOnGraph(const AgentQuery& agent);

}  // namespace waystar::core
