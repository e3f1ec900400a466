// Every kind of map and agent that searches and fields must be right for.
#pragma once

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "tests/testing/generator.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {

// A kind of map, and who walks on it.
struct MapAndAgent {
  Connectivity connectivity = Connectivity::kEight;
  bool weighted = false;
  // Single cells have costs of their own.
  bool own_costs = false;
  Agent agent;

  GridMap Make(Generator& generator, int max_side) const;
  // Makes a map for each of the names, with `portals` portals among them, or fewer.
  Maps MakeWorld(Generator& generator, const std::vector<std::string>& names, int max_side,
                 int portals) const;
};

std::vector<MapAndAgent> EveryMapAndAgent();
// Returns the kinds with agents of one cell and cells that cost what their terrain does.
std::vector<MapAndAgent> SmallAgents();
std::string NameOf(const ::testing::TestParamInfo<MapAndAgent>& info);

// The agent as the oracle of several maps knows it.
Walker WalkerOf(const Agent& agent);

}  // namespace waystar::core
