// Path queries on waypoint graphs, and the recorder of their searches.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// As SearchEvent, for nodes.
struct NodeEvent {
  SearchEvent::Kind kind = SearchEvent::Kind::kGenerated;
  NodeNumber node = 0;
  // With kGenerated, the predecessor. The start is its own parent.
  NodeNumber parent = 0;
  Cost g = 0;
  Cost f = 0;
};

class NodeRecorder : public EventList<NodeEvent> {
 public:
  using EventList::EventList;

  void Generated(NodeNumber node, NodeNumber parent, Cost g, Cost f) {
    Add({SearchEvent::Kind::kGenerated, node, parent, g, f});
  }
  void Expanded(NodeNumber node, Cost g, Cost f) { Add({SearchEvent::Kind::kExpanded, node, node, g, f}); }
};

// Finds a cheapest path by A* (Hart, Nilsson, Raphael: "A Formal Basis for the Heuristic Determination of
// Minimum Cost Paths", 1968). The heuristic is GraphHeuristic; Dijkstra's algorithm uses zero and finds the
// same cost. Among open nodes, the smallest estimated total cost is expanded first, then the larger cost so
// far, then the smaller number. A node reached at equal cost from two others keeps the one expanded first.
// The path is therefore the same on every machine.
//
// With a tolerance, the heuristic is weighted: the path to the goal costs at most 1 + tolerance times the
// cheapest, apart from the lines to its first and from its last node, which do not change.
//
// A position is represented by the nearest enabled node that it sees (WaypointGraph::NearestVisible). On a
// graph connected by sight, a start and a goal position that see each other need no node, unless the query
// requires tags: the path is the straight line.
//
// A path that does not reach the goal (kPartial, kBudgetExhausted) leads to the expanded node nearest to it
// in a straight line; among equals, the one that is cheaper to reach, then the smaller number.
//
// A search ends with kTooCostly, and a bound of the cost, once each path to the goal costs more than the
// budget's max_cost. Whether there is one is then unknown, because arcs may be one-way.
//
// With several goals the path leads to the one that is cheapest to reach, the first among equals. A flood
// from the start (FloodGraph) finds it and ends as soon as no other goal can be cheaper. The answer is that
// of the query for this goal alone, with the statistics of both searches. Disabled goals are skipped. A start
// that sees some but not all goals needs a node, and so does each goal that it does not see. If no goal is
// reachable, the outcome is kUnreachable. With kBudgetExhausted the path may be the start alone.
//
// The recorder, which may be null, gets each step of the path search, but not of the flood.
//
// Returns, with the fields of a route query, INVALID_ARGUMENT / BAD_NODE_ID or NOT_FOUND / NODE_NOT_FOUND
// ("start.node", "goals[0].node"), BAD_VALUE ("start.position.x", ...), BAD_PROFILE
// ("agent.profile.required_tags[0]"); FAILED_PRECONDITION / NO_NODE_NEAR, START_BLOCKED or, with kReport,
// GOAL_BLOCKED (a disabled node; with several goals only if all are, with "goals"), ALGORITHM_UNSUITED;
// INVALID_ARGUMENT / BAD_VALUE with "goals" for several goals with a policy other than kReport;
// DEADLINE_EXCEEDED, CANCELLED, ABORTED / SNAPSHOT_EVICTED.
//
// REQUIRES: there is a goal; the snap radius is finite and not negative.
absl::StatusOr<GraphPathResult> FindGraphPath(const WaypointGraph& graph, const GraphQuery& query,
                                              const Budget& budget, GraphScratch& scratch,
                                              NodeRecorder* recorder = nullptr);

}  // namespace waystar::core
