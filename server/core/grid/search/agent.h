// Agent that follows a field.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

// Properties of the agents that a field is computed for. Members are those of PathQuery.
struct Agent {
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // Side of the agent in cells, from 1 to kMaxFootprint.
  int footprint = 1;
  // As in PortalQuery. Must outlive the query.
  absl::Span<const std::string> required_tags = {};
};

// Returns the adjacency whose connected components equal those of the corner rule. Where a diagonal step
// needs a free side, two straight steps through that side replace it.
inline Adjacency AdjacencyOf(const GridMap& map, CornerRule rule) {
  switch (map.settings().connectivity) {
    case Connectivity::kFour:
      return Adjacency::kStraight;
    case Connectivity::kEight:
      return rule == CornerRule::kAlways ? Adjacency::kAny : Adjacency::kStraight;
    case Connectivity::kSix:
      return Adjacency::kHexagonal;
  }
  return Adjacency::kStraight;
}

}  // namespace waystar::core
