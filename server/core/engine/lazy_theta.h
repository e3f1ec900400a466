// Any-angle search on maps of one terrain cost.
//
// Lazy Theta*: Nash, Koenig, Tovey, "Lazy Theta*: Any-Angle Path Planning and Path Length Analysis in 3D"
// (2010). A cell is reached from its neighbour's parent as if the two saw each other; whether they do is
// checked once, when the cell is taken from the open list. Unlike there, a cell that turns out dearer than it
// seemed goes back on the open list, and one whose cost falls later is reopened.
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Searches from query.start, which must be walkable, to query.goal, which need only be on the map; `walk` is
// map.walk(query.footprint). Lines obey LineRule of the map and the query; the map's diagonal cost is
// ignored. Leaves in scratch.nodes() for each expanded cell the cell before it on a path from the start: the
// two see each other, and the chain of parents from SearchReport::nearest ends at the start.
//
// That path is seldom the shortest of any angle, but mostly within a percent of it. It is never longer than
// the shortest path over steps between neighbours, a diagonal step being the square root of 2 long, up to the
// rounding of Cost; `nearest` of a search that was stopped has no such bound. g is an upper bound of the
// length of the way to a cell: what is found later may shorten the way to its parent. The same query has the
// same answer on every machine.
//
// A cell is counted each time it is expanded. REQUIRES: map.HasUniformCost().
template <typename Recorder>
SearchReport RunLazyThetaStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                              const Budget& budget, Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
