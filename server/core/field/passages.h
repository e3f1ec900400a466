// How an agent comes from one cell of a map to another without steps.
#pragma once

#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/search/agent.h"

namespace waystar::core {

// Both cells are free.
struct Passage {
  Cell from;
  Cell to;
  Cost cost = 0;
  // Null if it leads by way of other maps; else it lives as long as the map.
  const Portal* portal = nullptr;
};

// The portals from the map to itself that the agent can pass, in the order of their ids, those that lead both
// ways twice. Costs a look at each portal of the map.
std::vector<Passage> OwnPassages(const GridMap& map, const Agent& agent);

}  // namespace waystar::core
