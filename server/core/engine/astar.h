// A* on grids.
//
// Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (1968); with
// a heuristic of zero, Dijkstra, "A Note on Two Problems in Connexion with Graphs" (1959).
#pragma once

#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Searches from query.start, which must be walkable, to query.goal, which need only be on the map; `walk` is
// map.walk(query.footprint). Leaves in `scratch` for each expanded cell the step that enters it on a cheapest
// path. REQUIRES: query.algorithm is not kAuto.
template <typename Recorder>
SearchReport RunAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                      Scratch& scratch, Recorder& recorder);

}  // namespace waystar::core
