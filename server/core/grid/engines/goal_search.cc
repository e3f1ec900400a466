#include "server/core/grid/engines/goal_search.h"

#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

SearchReport RunGoalSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                           const Budget& budget, Scratch& scratch) {
  const bool has_jumps = map.HasUniformCost() && map.settings().connectivity != Connectivity::kSix &&
                         query.algorithm != Algorithm::kAStar && query.algorithm != Algorithm::kDijkstra;
  return has_jumps ? RunGoalJumps(map, walk, query, budget, scratch)
                   : RunGoalAStar(map, walk, query, budget, scratch);
}

}  // namespace waystar::core
