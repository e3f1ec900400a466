#include "server/core/graph/search/graph_flow.h"

#include <algorithm>
#include <cstddef>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

absl::StatusOr<GraphFlow> ComputeGraphFlow(const WaypointGraph& graph, const GraphFlowQuery& query,
                                           const Budget& budget, GraphScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const TagSet required_tags, FindRequiredTags(graph, query.required_tags));
  WAYSTAR_ASSIGN_OR_RETURN(const Cost max_cost, ToMaxCost(query.max_cost));
  const BudgetStop stop(budget);
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<GraphSeat> goals,
                           FindSeats(graph, query.goals, query.snap_radius, "goals", &stop));
  std::vector<GraphSeed> seeds;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckSeatInRegion(graph, query.region, goals[i], IndexedField("goals", i)));
    if (graph.IsEnabled(goals[i].node)) {
      seeds.push_back({.node = goals[i].node, .cost = goals[i].cost});
    }
  }
  if (seeds.empty()) {
    return MakeError(ErrorReason::kGoalBlocked, "goals", "all goals are blocked");
  }
  const GraphFloodTask task{.seeds = seeds,
                            .sense = GraphSense::kToSeeds,
                            .required_tags = required_tags,
                            .max_cost = max_cost,
                            .region = query.region};
  GraphFlow flow;
  const GraphFloodReport report = FloodGraph(graph, task, budget, scratch, [&](NodeNumber node, Cost cost) {
    const NodeNumber parent = scratch.At(node).parent;
    flow.steps.push_back(
        {.node = node, .next = parent == node ? kNoNodeNumber : parent, .cost = CostToDouble(cost)});
    return true;
  });
  WAYSTAR_RETURN_IF_ERROR(StatusOfFlood(report.end, report.expanded));
  std::sort(flow.steps.begin(), flow.steps.end(),
            [](const GraphFlowStep& a, const GraphFlowStep& b) { return a.node < b.node; });
  flow.expanded = report.expanded;
  return flow;
}

}  // namespace waystar::core
