// Path queries on waypoint graphs.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph_search/graph_query.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/graph_search/node_recorder.h"

namespace waystar::core {

// Finds a cheapest path by A* (Hart, Nilsson, Raphael: "A Formal Basis for the Heuristic Determination of
// Minimum Cost Paths", 1968). The heuristic is the distance in a straight line, times the least cost per
// length of any edge of the graph; Dijkstra's is zero, and finds the same cost. Of the nodes on the open list
// the one with the smallest estimated total cost is expanded first, among equals that with the larger cost so
// far, then the smaller number; a node reached at equal cost from two others keeps the one that was expanded
// first. So the path is the same on every machine.
//
// The nearest enabled node that a position sees (WaypointGraph::NearestVisible) stands in for it. On a graph
// that is connected by sight, a start and a goal that are positions and see each other need no node between,
// unless the query requires tags: the path is the line.
//
// A path that does not reach the goal (kPartial, kBudgetExhausted) leads to the expanded node nearest to it
// in a straight line; among equals the one cheaper to reach, then the smaller number.
//
// Of several goals the path leads to the one that is cheapest to reach, and of equally cheap ones to the
// first. A flood from the start (FloodGraph) finds which it is and ends as soon as no other can be cheaper;
// the answer is that to the query for this goal alone, with the statistics of both. Disabled goals are passed
// over. A start that sees some goals and not all needs a node near it, and so does each goal that it does not
// see. If no way leads to any goal, the outcome is kUnreachable. With kBudgetExhausted the path may be the
// start alone.
//
// A recorder, unless it is null, receives each step of the search for a path, but none of the flood.
//
// Returns, with the fields of a route query, INVALID_ARGUMENT / BAD_NODE_ID or NOT_FOUND / NODE_NOT_FOUND
// ("start.node", "goals[0].node"), BAD_VALUE ("start.position.x", ...), BAD_PROFILE
// ("agent.profile.required_tags[0]"); FAILED_PRECONDITION / NO_NODE_NEAR, START_BLOCKED or, with kReport,
// GOAL_BLOCKED (a node that is not enabled; of several goals only if all are, with "goals"),
// ALGORITHM_UNSUITED; INVALID_ARGUMENT / BAD_VALUE with "goals" for several of them with another policy than
// kReport; DEADLINE_EXCEEDED, CANCELLED, ABORTED / SNAPSHOT_EVICTED.
//
// REQUIRES: there is a goal; the snap radius is finite, and 0 or more.
absl::StatusOr<GraphPathResult> FindGraphPath(const WaypointGraph& graph, const GraphQuery& query,
                                              const Budget& budget, GraphScratch& scratch,
                                              NodeRecorder* recorder = nullptr);

}  // namespace waystar::core
