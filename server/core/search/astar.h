// A* on grids.
//
// Hart, Nilsson, Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (1968); with
// a heuristic of zero, Dijkstra, "A Note on Two Problems in Connexion with Graphs" (1959).
#pragma once

#include <cstdint>

#include "server/core/map/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Why a search stopped.
enum class SearchEnd : std::uint8_t {
  kGoalReached,
  // Every cell that can be reached was expanded.
  kExhausted,
  kExpansionLimit,
  kScratchLimit,
  kDeadline,
  kCancelled,
};

struct SearchReport {
  SearchEnd end = SearchEnd::kExhausted;
  // The expanded cell nearest to the goal in a straight line; among equals the one cheaper to reach, then the
  // first in row-major order. The goal itself with kGoalReached.
  Cell nearest;
  SearchStatistics statistics;
};

// Searches from query.start, which must be walkable, to query.goal, which need only be on the map. Leaves in
// `scratch` for each expanded cell the step that enters it on a cheapest path. query.algorithm is not kAuto.
SearchReport RunAStar(const GridMap& map, const PathQuery& query, const Budget& budget, Scratch& scratch);

}  // namespace waystar::core
