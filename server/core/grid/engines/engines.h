// Search engines for paths from one start to one goal.
#pragma once

#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// All engines search from query.start to query.goal. `walk` is map.walk(query.footprint). Recorder is
// NoRecorder or EventRecorder.
// REQUIRES: query.start is walkable; query.goal is on the map.
//
// RunAStar, RunJps, RunWeightedJps and RunGoalAStar end with kCostLimit, and least_cost, once each path to
// the goal costs more than the budget's max_cost. This requires a tolerance of 0.
//
// RunAStar, RunJps and RunWeightedJps weigh their heuristic by 1 + query.tolerance. The path to the goal then
// costs at most that many times the cheapest, and paths to other cells may cost more.

// A*. Leaves in `scratch`, for each expanded cell, the step that enters it on a cheapest path.
//
// Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (1968). With
// a heuristic of zero it is Dijkstra's algorithm: "A Note on Two Problems in Connexion with Graphs" (1959).
// REQUIRES: query.algorithm is not kAuto.
template <typename Recorder>
SearchReport RunAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                      Scratch& scratch, Recorder& recorder);

// A* to the best of scratch.goals(); see RunGoalSearch.
SearchReport RunGoalAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch);

// Jump point search on grids of uniform cost. Leaves the jump points in scratch.nodes(): a node's parent
// leads to the node by a diagonal and then a straight run; on a 4-connected map by a horizontal and then a
// vertical run. Expansions count jump points, and `nearest` of the report is the nearest expanded one.
//
// Harabor, Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (2011) and "Improving Jump Point
// Search" (2014): scans of 64 cells per instruction and pruning of intermediate points. On 4-connected grids:
// Baum, "Jump Point Search Pathfinding in 4-connected Grids" (2025).
// REQUIRES: map.HasUniformCost().
template <typename Recorder>
SearchReport RunJps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                    Scratch& scratch, Recorder& recorder);

// Jump point search on grids whose cells differ in cost, under the corner rule of the query and the costs of
// the map; query.algorithm is ignored.
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
//
// Carlson, Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal Pathfinding on Weighted Grid Maps" (2023).
// REQUIRES: 8-connected.
template <typename Recorder>
SearchReport RunWeightedJps(const GridMap& map, const PathQuery& query, const Budget& budget,
                            Scratch& scratch, Recorder& recorder);

// Any-angle search on maps of uniform cost. Lines obey LineRule of the map and the query; the map's diagonal
// cost is ignored. Leaves in scratch.nodes(), for each expanded cell, a parent that sees it; the chain of
// parents from SearchReport::nearest ends at the start.
//
// The path is seldom the shortest at any angle, but mostly within one percent of it. Up to the rounding of
// Cost, it is never longer than the shortest path over steps between neighbours with diagonal steps of length
// sqrt(2); `nearest` of an interrupted search has no such bound. g is an upper bound of the length of the
// path to a cell, because the path to its parent may be shortened later. Results are the same on every
// machine. A cell is counted each time it is expanded.
//
// Lazy Theta*: Nash, Koenig, Tovey, "Lazy Theta*: Any-Angle Path Planning and Path Length Analysis in 3D"
// (2010). A cell is reached from its neighbour's parent as if the two were mutually visible; this is checked
// once, when the cell is taken from the open list. Unlike in the paper, a cell that turns out to cost more
// goes back on the open list, and one whose cost decreases later is reopened.
// REQUIRES: map.HasUniformCost().
template <typename Recorder>
SearchReport RunLazyThetaStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                              const Budget& budget, Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
