// Every kind of map and agent that fields must be right for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/geometry/cell.h"
#include "tests/testing/generator.h"
#include "tests/testing/world_oracle.h"

namespace waystar::core {

// A kind of map, and who walks on it.
struct MapAndAgent {
  Connectivity connectivity = Connectivity::kEight;
  bool weighted = false;
  // Single cells have costs of their own.
  bool own_costs = false;
  Agent agent;

  GridMap Make(testing::Generator& generator, int max_side) const;
};

std::vector<MapAndAgent> EveryMapAndAgent();
std::string NameOf(const ::testing::TestParamInfo<MapAndAgent>& info);

// The agent as the oracle of several maps knows it.
testing::Walker WalkerOf(const Agent& agent);

// One sign for each cell of a field: an arrow, 'o' at a goal, '@' at a portal, ' ' where there is no way.
std::vector<std::string> Arrows(const FlowField& field);

// The same cells seen in a mirror that stands upright, and turned by a quarter to the right; of hexagons,
// mirrored in the falling diagonal, and turned by half. Footprints of
// larger agents are not turned with them.
GridMap Mirrored(const GridMap& map);
Cell Mirrored(const GridMap& map, Cell cell);
GridMap Turned(const GridMap& map);
Cell Turned(const GridMap& map, Cell cell);

}  // namespace waystar::core
