// Which cells a path can lead between.
#pragma once

#include "server/core/map/component_block.h"
#include "server/core/map/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_settings.h"

namespace waystar::core {

// Two cells are connected by steps of a corner rule exactly if they are by steps to adjacent cells of this
// kind: where a diagonal step needs a free side, it can go around by it.
inline Adjacency AdjacencyOf(const GridMap& map, CornerRule rule) {
  return map.settings().connectivity == Connectivity::kEight && rule == CornerRule::kAlways
             ? Adjacency::kAny
             : Adjacency::kStraight;
}

}  // namespace waystar::core
