// A* on grids.
//
// Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (1968). With
// a heuristic of zero it is Dijkstra's algorithm: "A Note on Two Problems in Connexion with Graphs" (1959).
#pragma once

#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// Searches from query.start to query.goal. `walk` is map.walk(query.footprint). Leaves in `scratch`, for each
// expanded cell, the step that enters it on a cheapest path.
// REQUIRES: query.algorithm is not kAuto; query.start is walkable; query.goal is on the map.
template <typename Recorder>
SearchReport RunAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                      Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
