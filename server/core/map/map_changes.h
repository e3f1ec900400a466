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

  // The words, beside those in the lists above, where anything may have changed for agents that see other
  // terrains, in ascending order. Some of them may be in the lists as well.
  std::vector<WordIndex> touched;
  // True if those do not tell what such agents feel: there are too many, or obstacles have a part in what
  // cells cost, which may be cells that the map's own agents cannot enter.
  bool is_every_view = false;

  // True if a portal came, went or changed.
  bool portals = false;

  // Whether nothing has changed for the agents of the map itself.
  bool empty() const { return !is_everything && walkability.empty() && cost.empty() && !portals; }
};

}  // namespace waystar::core
