// A* over the arcs of a waypoint graph.
#pragma once

#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_scratch.h"
#include "server/core/graph/search/node_recorder.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct GraphSearchTask {
  NodeNumber start = 0;
  // kNoNodeNumber for no goal: every reachable node is then expanded.
  NodeNumber goal = 0;
  // Position of the goal.
  WorldPoint goal_position;
  // An arc must carry all of these tags.
  TagSet required_tags = 0;
  // If true, a heuristic is used.
  bool is_guided = true;
  // If true, the search also determines the expanded node nearest to the goal.
  bool wants_nearest = false;
};

struct GraphSearchReport {
  SearchEnd end = SearchEnd::kExhausted;
  // The goal with kGoalReached; otherwise the expanded node nearest to the goal, if requested.
  NodeNumber last = 0;
  Cost cost = 0;
  SearchStatistics statistics;
};

// Searches for a cheapest path. The recorder, which may be null, gets each step of the search.
//
// REQUIRES: the start is enabled; scratch.Start(graph.number_limit()) returned true.
GraphSearchReport SearchGraph(const WaypointGraph& graph, const GraphSearchTask& task, const Budget& budget,
                              GraphScratch& scratch, NodeRecorder* recorder = nullptr);

}  // namespace waystar::core
