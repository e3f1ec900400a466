// A* over the arcs of a waypoint graph.
#pragma once

#include "server/core/graph/waypoint_graph.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/graph_search/node_recorder.h"
#include "server/core/search/query.h"
#include "server/core/search/report.h"

namespace waystar::core {

struct GraphSearchTask {
  NodeNumber start = 0;
  // kNoNodeNumber means no goal: then every node is expanded.
  NodeNumber goal = 0;
  // The position of the goal.
  WorldPoint goal_position;
  // An arc must carry all of these tags.
  TagSet required_tags = 0;
  // If true, a heuristic is used.
  bool is_guided = true;
  // If true, the search looks for the node nearest to the goal.
  bool wants_nearest = false;
};

struct GraphSearchReport {
  SearchEnd end = SearchEnd::kExhausted;
  // The goal with kGoalReached; else the expanded node nearest to it, if that was wanted.
  NodeNumber last = 0;
  Cost cost = 0;
  SearchStatistics statistics;
};

// A recorder, unless it is null, receives each step of the search.
//
// REQUIRES: the start is enabled; scratch.Start(graph.number_limit()) returned true.
GraphSearchReport SearchGraph(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
                              GraphScratch& scratch, NodeRecorder* recorder = nullptr);

}  // namespace waystar::core
