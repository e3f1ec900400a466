// Jump point search on grids of uniform cost.
//
// Harabor, Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (2011) and "Improving Jump Point
// Search" (2014): scans of 64 cells per instruction and pruning of intermediate points. On 4-connected grids:
// Baum, "Jump Point Search Pathfinding in 4-connected Grids" (2025).
#pragma once

#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Searches from query.start to query.goal. `walk` is map.walk(query.footprint). Leaves the jump points in
// scratch.nodes(): a node's parent leads to the node by a diagonal and then a straight run; on a 4-connected
// map by a horizontal and then a vertical run. Expansions count jump points, and `nearest` of the report is
// the nearest expanded one.
// REQUIRES: map.HasUniformCost(); query.start is walkable; query.goal is on the map.
template <typename Recorder>
SearchReport RunJps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                    Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
