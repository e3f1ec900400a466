// Jump point search on grids whose walkable cells all cost the same.
//
// Harabor, Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (2011) and "Improving Jump Point
// Search" (2014): scans of 64 cells an instruction, intermediate points pruned; on 4-connected grids after
// Baum, "Jump Point Search Pathfinding in 4-connected Grids" (2025).
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Searches from query.start, which must be walkable, to query.goal, which need only be on the map; `walk` is
// map.walk(query.footprint). Leaves the jump points in scratch.nodes(): between a node and its parent lie a
// diagonal and then a straight run; on a 4-connected map a horizontal and then a vertical one. Expansions are
// counted by jump points; `nearest` of the report is the nearest expanded one. REQUIRES:
// map.HasUniformCost().
template <typename Recorder>
SearchReport RunJps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                    Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
