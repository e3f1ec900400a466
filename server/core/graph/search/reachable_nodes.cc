#include "server/core/graph/search/reachable_nodes.h"

#include <algorithm>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

absl::StatusOr<ReachableNodes> FindReachableNodes(const WaypointGraph& graph,
                                                  const ReachableNodesQuery& query, const Budget& budget,
                                                  GraphScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const TagSet required_tags, FindRequiredTags(graph, query.required_tags));
  WAYSTAR_ASSIGN_OR_RETURN(const Cost max_cost, ToMaxCost(query.max_cost));
  const BudgetStop stop(budget);
  WAYSTAR_ASSIGN_OR_RETURN(const GraphSeat start,
                           FindSeat(graph, query.start, query.snap_radius, "start", &stop));
  WAYSTAR_RETURN_IF_ERROR(CheckSeatInRegion(graph, query.region, start, "start"));
  if (!graph.IsEnabled(start.node)) {
    return MakeError(ErrorReason::kStartBlocked, "start", "the node is not enabled");
  }
  const GraphSeed seed{.node = start.node, .cost = start.cost};
  const GraphFloodTask task{.seeds = {&seed, 1},
                            .sense = query.sense,
                            .required_tags = required_tags,
                            .max_cost = max_cost,
                            .region = query.region};
  ReachableNodes reachable;
  const GraphFloodReport report = FloodGraph(graph, task, budget, scratch, [&](NodeNumber node, Cost cost) {
    reachable.nodes.push_back({.node = node, .cost = CostToDouble(cost)});
    return true;
  });
  WAYSTAR_RETURN_IF_ERROR(StatusOfFlood(report.end, report.expanded));
  std::sort(reachable.nodes.begin(), reachable.nodes.end(),
            [](const ReachableNode& a, const ReachableNode& b) { return a.node < b.node; });
  reachable.expanded = report.expanded;
  return reachable;
}

}  // namespace waystar::core
