// The agent of a query on a waypoint graph: its required tags and its view of the graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Thread safety: immutable.
class GraphAgent {
 public:
  // Resolves an agent on a snapshot. The snapshot and the account, which holds the memory of an overlay, must
  // outlive it. Returns the errors of CheckAgentOnGraph and BeginUpkeep, those of WithGraphOverlay below
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

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field of an option that graphs do not support.
absl::Status CheckAgentOnGraph(const AgentQuery& agent);

}  // namespace waystar::core
