// Jump point search on grids whose cells differ in cost.
//
// Carlson, Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal Pathfinding on Weighted Grid Maps" (2023). Scans of
// 64 cells at a time and pruning of intermediate points: Harabor, Grastien, "Improving Jump Point Search"
// (2014).
#pragma once

#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Searches from query.start to query.goal under the corner rule of the query and the costs of the map;
// query.algorithm is ignored.
// REQUIRES: 8-connected; query.start is walkable; query.goal is on the map.
//
// Leaves its nodes in scratch.nodes() and uses scratch.Find internally. From the goal's node, if it was
// reached, parents lead along a cheapest path to the start. A parent leads to its node by as many diagonal
// steps as both coordinates differ by, then by straight steps. These steps are legal for every node, but only
// for the goal's node are they a cheapest path; for others their cost may be below g.
//
// The report is that of RunAStar, except that only jump points are expanded. A node that is reached more
// cheaply or from another direction is expanded again, and each expansion counts. report.nearest is the
// nearest expanded jump point, so that with SearchEnd::kExhausted a cell between jump points may be nearer to
// the goal.
//
// Judges plain cells (plain_cells.h) that no search has visited before, which uses the budget's upkeep and
// has no other effect.
template <typename Recorder>
SearchReport RunWeightedJps(const GridMap& map, const PathQuery& query, const Budget& budget,
                            Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
