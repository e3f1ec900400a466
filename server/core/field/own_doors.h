// The portals of one map that lead to the same map.
#pragma once

#include <vector>

#include "server/core/field/agent.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/portal_scratch.h"

namespace waystar::core {

// Those that the agent can pass, in the order of their ids, those that lead both ways twice. Costs a look at
// each portal of the map. What they refer to lives as long as the map.
std::vector<Door> OwnDoors(const GridMap& map, const Agent& agent);

}  // namespace waystar::core
