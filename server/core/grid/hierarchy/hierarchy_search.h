// Bidirectional search over a Hierarchy.
#pragma once

#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Searches from query.start to query.goal, from both ends upwards in the hierarchy, guided by the octile
// distance.
//
// REQUIRES: query.corner_rule is kNoCornerCutting; both cells are walkable in hierarchy.cells().
//
// The path is optimal and deterministic. It is left in scratch.nodes(): a node's parent leads to the node by
// a diagonal and then a straight run. Expansions count subgoals from both ends. For those from the goal's end
// the recorder gets the cost of the path to the goal, and a parent may be any number of turns away. `nearest`
// of the report is the nearest subgoal expanded from the start; if the search ends before it finds the goal,
// scratch.nodes() leads there.
template <typename Recorder>
SearchReport RunHierarchy(const Hierarchy& hierarchy, const PathQuery& query, const Budget& budget,
                          Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
