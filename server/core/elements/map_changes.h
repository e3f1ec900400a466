// Difference between two states of a map.
#pragma once

#include <vector>

#include "server/core/grid/cells/bit_plane.h"
#include "server/geometry/box.h"

namespace waystar::core {

// Boxes around the changes of a waypoint graph.
struct GraphPlaces {
  // Nodes that were added, removed, moved, enabled or disabled, and both ends of arcs that were, or whose
  // cost, tags or openness changed. Both ends of an arc lie in one box.
  BoxSet changed;
  // Every path that became possible or cheaper passes through one of these nodes: enabled nodes that were
  // added, moved or enabled, and the sources of arcs that were added, opened, made cheaper or given tags.
  BoxSet opened;
  // Named obstacles that were added, removed or changed, where lines of sight may have changed.
  BoxSet sight;

  bool empty() const { return changed.empty() && sight.empty(); }
  void Add(const GraphPlaces& other) {
    changed.Add(other.changed);
    opened.Add(other.opened);
    sight.Add(other.sight);
  }
};

// Boxes around the changes of a navigation mesh, seen from above.
struct MeshPlaces {
  // Ground that may have been cut out, and ground that may be walkable again.
  BoxSet blocked;
  BoxSet opened;
};

// Lists of words of cells; each word occurs at most once per list.
struct MapChanges {
  // True if there are too many changes to list, or if named profiles changed. The lists are then empty, and
  // any cell or movement rule may differ.
  bool is_everything = false;
  // Cells that are walkable in exactly one of the two states.
  std::vector<WordChange> walkability;
  // Other cells, walkable in both states, whose cost changed.
  std::vector<WordChange> cost;

  // Words, in ascending order, where something may have changed for profiles with different passable
  // terrains, beside the lists above. May overlap with them.
  std::vector<WordIndex> touched;
  // True if `touched` does not cover all changes for such profiles: there are too many, or cost obstacles
  // affect cells that the map's default agent cannot enter.
  bool is_every_view = false;

  // True if a portal was added, removed or changed.
  bool portals = false;

  // Changes of a waypoint graph, for which all of the above is empty.
  GraphPlaces graph;

  // Changes of the obstacles of a navigation mesh, for which all of the above but the first and `portals` is
  // empty.
  MeshPlaces mesh;

  // True if nothing changed for the default agent of a grid map.
  bool empty() const { return !is_everything && walkability.empty() && cost.empty() && !portals; }
};

}  // namespace waystar::core
