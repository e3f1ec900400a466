// The difference between two states of a map.
#pragma once

#include <vector>

#include "server/core/grid/bit_plane.h"

namespace waystar::core {

// Lists of words of cells; each word occurs at most once in a list.
struct MapChanges {
  // True if there is too much to list, or if named profiles changed: any cell may differ, or how agents move.
  // The lists are empty then.
  bool is_everything = false;
  // Cells that are walkable in only one of the two states.
  std::vector<WordChange> walkability;
  // Other cells, walkable before and after, whose cost of entry changed.
  std::vector<WordChange> cost;

  // True if a portal came, went or changed.
  bool portals = false;

  bool empty() const { return !is_everything && walkability.empty() && cost.empty() && !portals; }
};

}  // namespace waystar::core
