// What differs between two states of a map.
#pragma once

#include <vector>

#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// Words of cells, each word at most once a list.
struct MapChanges {
  // Too much to list, or profiles that have names: any cell may differ, or how agents move, and the lists are
  // empty.
  bool is_everything = false;
  // Cells that were walkable and are not, or the other way round.
  std::vector<WordChange> walkability;
  // Other cells, walkable before and after, that cost something else to enter.
  std::vector<WordChange> cost;

  // A portal came, went or changed.
  bool portals = false;

  bool empty() const { return !is_everything && walkability.empty() && cost.empty() && !portals; }
};

}  // namespace waystar::core
