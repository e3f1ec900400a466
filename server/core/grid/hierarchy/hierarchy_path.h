// Unpacks the arcs of a hierarchy into a path.
#pragma once

#include <vector>

#include "server/core/grid/cells/cost.h"
#include "server/core/grid/hierarchy/hierarchy.h"
#include "server/core/grid/search/hierarchy_scratch.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/search/scratch.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Appends to a path in scratch.nodes(), which must be empty at first. Functions that append return false if
// the memory limit is reached.
class HierarchyPath {
 public:
  HierarchyPath(const Hierarchy& hierarchy, Scratch& scratch)
      : hierarchy_(hierarchy), scratch_(scratch), state_(scratch.hierarchy()) {}

  // Appends a cell that is reached by a diagonal and then a straight run. Appending the last cell again has
  // no effect.
  bool Append(Cell cell) {
    const NodeIndex index = scratch_.FindOrAddNode(cell);
    if (index == kNoNode) {
      return false;
    }
    NodeTable& path = scratch_.nodes();
    if (last_ == kNoNode) {
      path[index].g = 0;
      path[index].parent = index;
    } else if (index != last_) {
      path[index].g = path[last_].g + OctileCost(Unpack(path[last_].cell), cell, hierarchy_.straight(),
                                                 hierarchy_.diagonal());
      path[index].parent = last_;
    }
    last_ = index;
    return true;
  }

  // Returns the cost of the path so far.
  // REQUIRES: the path is not empty.
  Cost cost() const { return scratch_.nodes()[last_].g; }

  // Appends the subgoals from the start to a node that was reached from there.
  bool AppendUpTo(Hierarchy::Node node) {
    std::vector<Hierarchy::ArcIndex>& arcs = state_.arcs;
    arcs.clear();
    for (auto arc = ArcOf(0, node); arc != HierarchyScratch::kFromEnd; arc = ArcOf(0, node)) {
      arcs.push_back(arc);
      node = hierarchy_.FromOf(arc);
    }
    bool has_room = Append(CellOf(node));
    for (; !arcs.empty() && has_room; arcs.pop_back()) {
      const Hierarchy::Node next = hierarchy_.ArcAt(arcs.back()).to;
      has_room = AppendLegs({.from = node, .to = next, .arc = arcs.back()});
      node = next;
    }
    return has_room;
  }

  // Appends the subgoals from a node that was reached from the goal, down to the goal.
  bool AppendDownFrom(Hierarchy::Node node) {
    bool has_room = true;
    for (auto arc = ArcOf(1, node); arc != HierarchyScratch::kFromEnd && has_room; arc = ArcOf(1, node)) {
      const Hierarchy::Node next = hierarchy_.FromOf(arc);
      has_room = AppendLegs({.from = node, .to = next, .arc = arc});
      node = next;
    }
    return has_room;
  }

 private:
  using Leg = HierarchyScratch::Leg;

  Hierarchy::ArcIndex ArcOf(int side, Hierarchy::Node node) const { return state_.nodes[node].arc[side]; }
  Cell CellOf(Hierarchy::Node node) const { return Unpack(hierarchy_.CellOf(node)); }

  // Appends the subgoals of an arc, unpacking shortcuts.
  bool AppendLegs(const Leg& whole) {
    std::vector<Leg>& legs = state_.legs;
    legs.clear();
    legs.push_back(whole);
    while (!legs.empty()) {
      const Leg leg = legs.back();
      legs.pop_back();
      const Hierarchy::Node middle = hierarchy_.MiddleOf(leg.arc);
      if (middle == Hierarchy::kNone) {
        if (!Append(CellOf(leg.to))) {
          return false;
        }
        continue;
      }
      legs.push_back({.from = middle, .to = leg.to, .arc = hierarchy_.ArcBetween(middle, leg.to)});
      legs.push_back({.from = leg.from, .to = middle, .arc = hierarchy_.ArcBetween(middle, leg.from)});
    }
    return true;
  }

  const Hierarchy& hierarchy_;
  Scratch& scratch_;
  HierarchyScratch& state_;
  NodeIndex last_ = kNoNode;
};

}  // namespace waystar::core
