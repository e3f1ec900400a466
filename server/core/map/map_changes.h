// The difference between two states of a map.
#pragma once

#include <vector>

#include "server/core/grid/bit_plane.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// Around what changed on a waypoint graph.
struct GraphPlaces {
  // Nodes that came, went, moved, were enabled or disabled, and both ends of arcs that did or whose cost,
  // tags or openness changed. Both ends of an arc lie in one box.
  BoxSet changed;
  // Nodes one of which every path passes that could not be walked before, or not for so little: enabled nodes
  // that came, moved or were enabled, and the beginnings of arcs that came or opened, or got cheaper or tags.
  BoxSet opened;
  // Named obstacles that came, went or changed, where lines may be clear that were not, or the other way.
  BoxSet sight;

  bool empty() const { return changed.empty() && sight.empty(); }
  void Add(const GraphPlaces& other) {
    changed.Add(other.changed);
    opened.Add(other.opened);
    sight.Add(other.sight);
  }
};

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

  // All that changed on a waypoint graph, which has nothing of the above.
  GraphPlaces graph;

  // Whether nothing has changed for the agents of the map itself, which is a grid.
  bool empty() const { return !is_everything && walkability.empty() && cost.empty() && !portals; }
};

}  // namespace waystar::core
