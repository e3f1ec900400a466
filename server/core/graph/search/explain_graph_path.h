// Why there is no path on a waypoint graph.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/search/blockers.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphExplanation : Explanation {
  // Nodes of the path, stored in the scratch until its next search. Empty if start and goal see each other.
  absl::Span<const NodeNumber> nodes = {};
};

// Finds a path through blockers whose cost and prices together are lowest, by Dijkstra's algorithm over all
// edges that carry the required tags, open or not. An edge enters the obstacles that it touches, except those
// that contain the node it leaves; that of the first edge is entered too. Without the blockers that it names,
// the path is legal and costs what the explanation says; fewer might do.
//
// Automatic edges that obstacles block do not exist: with AutoConnect, the search is on a copy of the graph
// without obstacles (GraphEditor::RemoveAllObstacles).
//
// Only the start, the first goal, the snap radius and the required tags of the query count. Ends are found
// as by FindGraphPath, except that nodes may be disabled.
//
// Returns the errors of CheckPrices and CheckEntries, of FindSeat with "start" and "goal", of
// FindRequiredTags, RemoveAllObstacles and StatusOfFlood.
absl::StatusOr<GraphExplanation> ExplainGraphPath(const WaypointGraph& graph, const GraphQuery& query,
                                                  const BlockerPrices& prices, const Budget& budget,
                                                  GraphScratch& scratch);

}  // namespace waystar::core
