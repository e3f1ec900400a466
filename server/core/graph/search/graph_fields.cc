#include "server/core/graph/search/graph_fields.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Returns INVALID_ARGUMENT / BAD_VALUE with that field if there is a region that does not contain the node.
absl::Status CheckSeatInRegion(const WaypointGraph& graph, const std::optional<Box>& region,
                               const GraphSeat& seat, absl::string_view field) {
  if (!region || Holds(*region, graph.PositionOf(seat.node))) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, field,
                   absl::StrCat("the node \"", graph.IdOf(seat.node), "\" lies outside the region"));
}

// Returns the flood of a query, without its seeds.
template <typename Query>
absl::StatusOr<GraphFloodTask> TaskOf(const WaypointGraph& graph, const Query& query, GraphSense sense) {
  WAYSTAR_ASSIGN_OR_RETURN(const TagSet required_tags, FindRequiredTags(graph, query.required_tags));
  WAYSTAR_ASSIGN_OR_RETURN(const Cost max_cost, ToMaxCost(query.max_cost));
  return GraphFloodTask{.seeds = {},
                        .sense = sense,
                        .required_tags = required_tags,
                        .max_cost = max_cost,
                        .region = query.region};
}

// Floods from the seeds and appends make(node, cost) to the entries, which are then in the order of node
// numbers. Returns the number of expansions.
template <typename Entry, typename Make>
absl::StatusOr<std::uint64_t> Collect(const WaypointGraph& graph, GraphFloodTask task,
                                      absl::Span<const GraphSeed> seeds, const Budget& budget,
                                      GraphScratch& scratch, std::vector<Entry>& entries, const Make& make) {
  task.seeds = seeds;
  const GraphFloodReport report = FloodGraph(graph, task, budget, scratch, [&](NodeNumber node, Cost cost) {
    entries.push_back(make(node, cost));
    return true;
  });
  WAYSTAR_RETURN_IF_ERROR(StatusOfFlood(report.end, report.expanded));
  std::ranges::sort(entries, {}, &Entry::node);
  return report.expanded;
}

}  // namespace

absl::StatusOr<ReachableNodes> FindReachableNodes(const WaypointGraph& graph,
                                                  const ReachableNodesQuery& query, const Budget& budget,
                                                  GraphScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const GraphFloodTask task, TaskOf(graph, query, query.sense));
  const BudgetStop stop(budget);
  WAYSTAR_ASSIGN_OR_RETURN(const GraphSeat start,
                           FindSeat(graph, query.start, query.snap_radius, "start", &stop));
  WAYSTAR_RETURN_IF_ERROR(CheckSeatInRegion(graph, query.region, start, "start"));
  if (!graph.IsEnabled(start.node)) {
    return MakeError(ErrorReason::kStartBlocked, "start", "the node is not enabled");
  }
  const GraphSeed seed{.node = start.node, .cost = start.cost};
  ReachableNodes reachable;
  WAYSTAR_ASSIGN_OR_RETURN(
      reachable.expanded,
      Collect(graph, task, {&seed, 1}, budget, scratch, reachable.nodes, [](NodeNumber node, Cost cost) {
        return ReachableNode{.node = node, .cost = CostToDouble(cost)};
      }));
  return reachable;
}

absl::StatusOr<GraphFlow> ComputeGraphFlow(const WaypointGraph& graph, const GraphFlowQuery& query,
                                           const Budget& budget, GraphScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(const GraphFloodTask task, TaskOf(graph, query, GraphSense::kToSeeds));
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
  GraphFlow flow;
  WAYSTAR_ASSIGN_OR_RETURN(
      flow.expanded,
      Collect(graph, task, seeds, budget, scratch, flow.steps, [&](NodeNumber node, Cost cost) {
        const NodeNumber parent = scratch.At(node).parent;
        return GraphFlowStep{
            .node = node, .next = parent == node ? kNoNodeNumber : parent, .cost = CostToDouble(cost)};
      }));
  return flow;
}

}  // namespace waystar::core
