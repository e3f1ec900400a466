// Any-angle search on maps of uniform cost.
//
// Lazy Theta*: Nash, Koenig, Tovey, "Lazy Theta*: Any-Angle Path Planning and Path Length Analysis in 3D"
// (2010). A cell is reached from its neighbour's parent as if the two were mutually visible; this is checked
// once, when the cell is taken from the open list. Unlike in the paper, a cell that turns out to cost more
// goes back on the open list, and one whose cost decreases later is reopened.
#pragma once

#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Searches from query.start to query.goal. `walk` is map.walk(query.footprint). Lines obey LineRule of the
// map and the query; the map's diagonal cost is ignored. Leaves in scratch.nodes(), for each expanded cell, a
// parent that sees it; the chain of parents from SearchReport::nearest ends at the start.
//
// The path is seldom the shortest at any angle, but mostly within one percent of it. Up to the rounding of
// Cost, it is never longer than the shortest path over steps between neighbours with diagonal steps of length
// sqrt(2); `nearest` of an interrupted search has no such bound. g is an upper bound of the length of the
// path to a cell, because the path to its parent may be shortened later. Results are the same on every
// machine.
//
// A cell is counted each time it is expanded.
//
// REQUIRES: map.HasUniformCost(); query.start is walkable; query.goal is on the map.
template <typename Recorder>
SearchReport RunLazyThetaStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                              const Budget& budget, Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
