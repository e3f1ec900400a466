// Jump point search on grids whose cells differ in cost.
//
// Carlson, Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal Pathfinding on Weighted Grid Maps" (2023); scans of
// 64 cells at a time and the pruning of intermediate points after Harabor, Grastien, "Improving Jump Point
// Search" (2014).
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Searches from query.start, which must be walkable, to query.goal, which need only be on the map, by the
// corner rule and costs of the query and the map; query.algorithm is ignored. REQUIRES: 8-connected.
//
// Leaves its nodes in scratch.nodes(); scratch.Find is for its own use. From the goal's node, if it was
// reached, parents lead along a cheapest path to the start: from a parent to its node go first as many
// diagonal steps as both coordinates differ by, then straight ones. Those steps are legal for every node; but
// for the goal's they need not be the cheapest way to the node, and their cost may lie below its g.
//
// The report is that of RunAStar except that only jump points are expanded, some of them again when a cheaper
// way to them or another direction of it turns up, and each time counts; report.nearest is the nearest among
// those. So with SearchEnd::kExhausted a cell that was passed over may be nearer to the goal.
//
// It judges the plain cells (plain_cells.h) that no search before came to, which costs a budget's upkeep and
// changes nothing else.
template <typename Recorder>
SearchReport RunWeightedJps(const GridMap& map, const PathQuery& query, const Budget& budget,
                            Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
