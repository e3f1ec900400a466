// Which cells a path can lead between.
#pragma once

#include "server/core/components/component_block.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Two cells are connected by steps of a corner rule exactly if they are by steps to adjacent cells of this
// kind: where a diagonal step needs a free side, it can go around by it.
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
