// Passages: how an agent gets from one cell of a map to another without steps.
#pragma once

#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/search/agent.h"

namespace waystar::core {

// A passage between two cells, both of which are free.
struct Passage {
  Cell from;
  Cell to;
  Cost cost = 0;
  // Null if it leads by way of other maps; else it lives as long as the map.
  const Portal* portal = nullptr;
};

// Returns the portals from the map to itself that the agent can pass, in the order of their ids; those that
// lead both ways occur twice. It costs a look at each portal of the map.
std::vector<Passage> OwnPassages(const GridMap& map, const Agent& agent);

}  // namespace waystar::core
