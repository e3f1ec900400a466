#include "server/core/search/hierarchy_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "server/core/map/bit_scan.h"
#include "server/core/map/cell.h"
#include "server/core/map/cost.h"
#include "server/core/search/hierarchy_scratch.h"
#include "server/core/search/interruption.h"
#include "server/core/search/nearest_cell.h"
#include "server/core/search/node_table.h"
#include "server/core/search/octile.h"

namespace waystar::core {
namespace {

// The cell where the diagonal from `from` towards `to` turns into the straight run; either may be one of
// them.
Cell TurnTowards(Cell from, Cell to) {
  const int dx = to.x - from.x;
  const int dy = to.y - from.y;
  const int diagonal = std::min(std::abs(dx), std::abs(dy));
  return {from.x + diagonal * Sign(dx), from.y + diagonal * Sign(dy)};
}

// Whether all steps of a diagonal and then a straight run are legal. REQUIRES: both cells are walkable.
bool IsOpen(const WalkGrid& walk, Cell from, Cell to) {
  const int step_x = Sign(to.x - from.x);
  const int step_y = Sign(to.y - from.y);
  while (from.x != to.x && from.y != to.y) {
    if (!TestBit(walk.Row(from.y), from.x + step_x)) {
      return false;
    }
    from.y += step_y;
    const Word* row = walk.Row(from.y);
    if (!TestBit(row, from.x) || !TestBit(row, from.x + step_x)) {
      return false;
    }
    from.x += step_x;
  }
  if (from.y == to.y) {
    return FirstClear(walk.Row(from.y), std::min(from.x, to.x)) > std::max(from.x, to.x);
  }
  return FirstClear(walk.Column(from.x), std::min(from.y, to.y)) > std::max(from.y, to.y);
}

template <typename Recorder>
class HierarchySearch {
 public:
  HierarchySearch(const Hierarchy& hierarchy, const WalkGrid& walk, const PathQuery& query,
                  const Budget& budget, Scratch& scratch, Recorder& recorder)
      : hierarchy_(hierarchy),
        walk_(walk),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        state_(scratch.hierarchy()),
        recorder_(recorder),
        nearest_(query.start, query.goal) {}

  SearchReport Run() {
    SearchEnd end = Search();
    statistics_.algorithm = Algorithm::kJumpPoint;
    if (end == SearchEnd::kGoalReached && meeting_ != kNone) {
      end = WriteWay();
    } else if (end != SearchEnd::kGoalReached && nearest_node_ != kNone) {
      WriteWayTo(nearest_node_);
    }
    const bool is_found = end == SearchEnd::kGoalReached;
    return {.end = end,
            .nearest = is_found ? query_.goal : nearest_.cell(),
            .cost = is_found ? best_ : nearest_.cost(),
            .statistics = statistics_};
  }

 private:
  using Node = Hierarchy::Node;
  using Leg = HierarchyScratch::Leg;
  // Which end a search comes from.
  enum Side : std::uint8_t { kFromStart, kFromGoal };

  static constexpr std::uint32_t kNone = Hierarchy::kNone;
  static constexpr Cost kUnreached = NodeTable::kUnreached;

  static Side Other(Side side) { return side == kFromStart ? kFromGoal : kFromStart; }
  Cell EndOf(Side side) const { return side == kFromStart ? query_.start : query_.goal; }

  Cost Distance(Cell from, Cell to) const {
    return OctileCost(from, to, hierarchy_.straight(), hierarchy_.diagonal());
  }

  SearchEnd Search() {
    const Cost lowest = Distance(query_.start, query_.goal);
    const int width_shift =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(hierarchy_.straight()))) - 1;
    if (!scratch_.StartHierarchy(hierarchy_.node_count(), lowest, width_shift)) {
      return SearchEnd::kScratchLimit;
    }
    generation_ = state_.generation;
    if (!Append(query_.start)) {
      return SearchEnd::kScratchLimit;
    }
    if (query_.start == query_.goal) {
      best_ = 0;
      return SearchEnd::kGoalReached;
    }
    if (const std::optional<SearchEnd> end = Interruption(budget_)) {
      return *end;
    }
    if (IsOpen(walk_, query_.start, query_.goal)) {
      best_ = lowest;
      return Append(query_.goal) ? SearchEnd::kGoalReached : SearchEnd::kScratchLimit;
    }
    if (IsOpen(walk_, query_.goal, query_.start)) {
      best_ = lowest;
      return Append(TurnTowards(query_.goal, query_.start)) && Append(query_.goal) ? SearchEnd::kGoalReached
                                                                                   : SearchEnd::kScratchLimit;
    }
    Connect(kFromStart);
    Connect(kFromGoal);
    return Climb();
  }

  // Reaches the subgoals from which an end's first or last leg leads.
  void Connect(Side side) {
    const Cell end = EndOf(side);
    const SubgoalId own = hierarchy_.subgoals().At(end);
    if (own != kNoSubgoal) {
      Reach(side, hierarchy_.NodeOf(own), end, 0, HierarchyScratch::kFromEnd, kSectorCount, end);
      return;
    }
    hierarchy_.subgoals().ForEachNeighbour(walk_, end, [&](Cell cell) {
      Reach(side, hierarchy_.NodeOf(hierarchy_.subgoals().At(cell)), cell, Distance(end, cell),
            HierarchyScratch::kFromEnd, SectorOf(cell, end), end);
    });
  }

  void Reach(Side side, Node node, Cell cell, Cost g, std::uint32_t arc, Sector from, Cell parent) {
    const Cost f = g + Distance(cell, EndOf(Other(side)));
    if (f >= best_) {
      return;
    }
    HierarchyNode& known = state_.nodes[node];
    if (known.generation != generation_) {
      known = {
          .g = {kUnreached, kUnreached}, .arc = {}, .generation = generation_, .is_waiting = {}, .from = {}};
    }
    if (g >= known.g[side]) {
      return;
    }
    known.g[side] = g;
    known.arc[side] = arc;
    known.from[side] = from;
    known.is_waiting[side] = true;
    const Cost other = known.g[Other(side)];
    if (other != kUnreached && g + other < best_) {
      best_ = g + other;
      meeting_ = node;
    }
    ++statistics_.generated;
    recorder_.Generated(cell, parent, g, f);
    is_full_ = is_full_ || !scratch_.PushHierarchy(side, f, node);
  }

  // Takes nodes from both sides in turn until neither has one left that a path cheaper than the best could
  // lead over.
  SearchEnd Climb() {
    std::array<bool, 2> is_done = {};
    for (Side side = kFromStart; !(is_done[0] && is_done[1]); side = Other(side)) {
      BucketQueue& open = state_.open[side];
      bool has_settled = false;
      while (!has_settled && !is_done[side]) {
        if (is_full_) {
          return SearchEnd::kScratchLimit;
        }
        if (open.empty()) {
          is_done[side] = true;
          break;
        }
        const BucketQueue::Entry entry = open.Pop();
        if (open.Floor() >= best_) {
          is_done[side] = true;
          break;
        }
        HierarchyNode& node = state_.nodes[entry.node];
        if (!node.is_waiting[side]) {
          continue;
        }
        node.is_waiting[side] = false;
        if (statistics_.expanded >= budget_.max_expansions) {
          return SearchEnd::kExpansionLimit;
        }
        if (statistics_.expanded % Budget::kPollInterval == Budget::kPollInterval - 1) {
          if (const std::optional<SearchEnd> end = Interruption(budget_)) {
            return *end;
          }
        }
        ++statistics_.expanded;
        has_settled = true;
        Settle(side, entry.node, node, entry.f);
      }
    }
    return best_ == kUnreached ? SearchEnd::kExhausted : SearchEnd::kGoalReached;
  }

  void Settle(Side side, Node node, const HierarchyNode& known, Cost f) {
    const Cost g = known.g[side];
    const Sector from = known.from[side];
    const Cell cell = Unpack(hierarchy_.CellOf(node));
    recorder_.Expanded(cell, g, f);
    if (side == kFromStart) {
      nearest_.Consider(cell, g);
      if (nearest_.cell() == cell) {
        nearest_node_ = node;
      }
    }
    const Hierarchy::ArcIndex first = hierarchy_.FirstArc(node);
    const Hierarchy::ArcIndex end = hierarchy_.EndArc(node);
    for (Hierarchy::ArcIndex i = first; i < end; ++i) {
      const Hierarchy::Arc& arc = hierarchy_.ArcAt(i);
      const HierarchyNode& above = state_.nodes[arc.to];
      // From above a cheaper way comes down to the node: no cheapest path leads up over it.
      if (above.generation == generation_ && above.g[side] < g && above.g[side] + arc.cost < g) {
        return;
      }
    }
    const SectorSet onward =
        from == kSectorCount ? static_cast<SectorSet>(~0U) : hierarchy_.Onward(node, from);
    for (Hierarchy::ArcIndex i = first; i < end; ++i) {
      const Hierarchy::Arc& arc = hierarchy_.ArcAt(i);
      if ((onward >> arc.leaves & 1U) != 0) {
        Reach(side, arc.to, arc.cell(), g + arc.cost, i, static_cast<Sector>(arc.arrives), cell);
      }
    }
  }

  SearchEnd WriteWay() {
    if (!WriteWayTo(meeting_)) {
      return SearchEnd::kScratchLimit;
    }
    Node node = meeting_;
    for (std::uint32_t arc = ArcOf(kFromGoal, node); arc != HierarchyScratch::kFromEnd;
         arc = ArcOf(kFromGoal, node)) {
      const Node below = hierarchy_.FromOf(arc);
      if (!WriteLegs({.from = node, .to = below, .arc = arc})) {
        return SearchEnd::kScratchLimit;
      }
      node = below;
    }
    return Append(query_.goal) ? SearchEnd::kGoalReached : SearchEnd::kScratchLimit;
  }

  // From the start to a node that was reached from there. False if the memory limit stands in the way.
  bool WriteWayTo(Node node) {
    state_.arcs.clear();
    for (std::uint32_t arc = ArcOf(kFromStart, node); arc != HierarchyScratch::kFromEnd;
         arc = ArcOf(kFromStart, node)) {
      state_.arcs.push_back(arc);
      node = hierarchy_.FromOf(arc);
    }
    bool has_room = Append(Unpack(hierarchy_.CellOf(node)));
    for (std::size_t i = state_.arcs.size(); i-- > 0 && has_room;) {
      const std::uint32_t arc = state_.arcs[i];
      const Node above = hierarchy_.ArcAt(arc).to;
      has_room = WriteLegs({.from = node, .to = above, .arc = arc});
      node = above;
    }
    return has_room;
  }

  std::uint32_t ArcOf(Side side, Node node) const { return state_.nodes[node].arc[side]; }

  // Takes shortcuts apart.
  bool WriteLegs(const Leg& whole) {
    std::vector<Leg>& legs = state_.legs;
    legs.clear();
    legs.push_back(whole);
    while (!legs.empty()) {
      const Leg leg = legs.back();
      legs.pop_back();
      const Node middle = hierarchy_.MiddleOf(leg.arc);
      if (middle == kNone) {
        if (!Append(Unpack(hierarchy_.CellOf(leg.to)))) {
          return false;
        }
        continue;
      }
      legs.push_back({.from = middle, .to = leg.to, .arc = hierarchy_.ArcBetween(middle, leg.to)});
      legs.push_back({.from = leg.from, .to = middle, .arc = hierarchy_.ArcBetween(middle, leg.from)});
    }
    return true;
  }

  // Adds a cell to the path. False if the memory limit stands in the way.
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
      path[index].g = path[last_].g + Distance(Unpack(path[last_].cell), cell);
      path[index].parent = last_;
    }
    last_ = index;
    return true;
  }

  const Hierarchy& hierarchy_;
  const WalkGrid& walk_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  HierarchyScratch& state_;
  Recorder& recorder_;
  SearchStatistics statistics_;
  NearestCell nearest_;
  // Where nearest_ is; kNone while that is the start.
  Node nearest_node_ = kNone;
  std::uint32_t generation_ = 0;
  // Of the cheapest path so far, and where its two halves meet.
  Cost best_ = kUnreached;
  Node meeting_ = kNone;
  // The last node of the path being written.
  NodeIndex last_ = kNoNode;
  bool is_full_ = false;
};

}  // namespace

template <typename Recorder>
SearchReport RunHierarchy(const Hierarchy& hierarchy, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch, Recorder& recorder) {
  return HierarchySearch<Recorder>(hierarchy, walk, query, budget, scratch, recorder).Run();
}

template SearchReport RunHierarchy(const Hierarchy&, const WalkGrid&, const PathQuery&, const Budget&,
                                   Scratch&, NoRecorder&);
template SearchReport RunHierarchy(const Hierarchy&, const WalkGrid&, const PathQuery&, const Budget&,
                                   Scratch&, EventRecorder&);

}  // namespace waystar::core
