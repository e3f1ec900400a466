// Bidirectional search over a Hierarchy.
#pragma once

#include "server/core/hierarchy/hierarchy.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Searches from query.start to query.goal, both walkable, from both ends upward in the hierarchy, guided by
// the octile distance. `hierarchy` was built from `walk`. REQUIRES: query.corner_rule is kNoCornerCutting.
//
// The path found is optimal, and the same for the same query. It is left in scratch.nodes(): between a node
// and its parent lie a diagonal and then a straight run. What is expanded are subgoals, from both ends
// together; for those from the goal's end the recorder gets the cost of the way to the goal, and a parent may
// be any number of turns away. `nearest` of the report is the nearest one expanded from the start; if the
// search ends before it has found the goal, scratch.nodes() leads there.
template <typename Recorder>
SearchReport RunHierarchy(const Hierarchy& hierarchy, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
