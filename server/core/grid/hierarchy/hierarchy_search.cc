#include "server/core/grid/hierarchy/hierarchy_search.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/search/direct_way.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/interruption.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

// Unpacks the arcs of a hierarchy into a path in scratch.nodes(), which must be empty at first. Functions
// that append return false if the memory limit is reached.
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

template <typename Recorder>
class HierarchySearch {
 public:
  HierarchySearch(const Hierarchy& hierarchy, const PathQuery& query, const Budget& budget, Scratch& scratch,
                  Recorder& recorder)
      : hierarchy_(hierarchy),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        state_(scratch.hierarchy()),
        recorder_(recorder),
        path_(hierarchy, scratch),
        nearest_(query.start, query.goal) {}

  SearchReport Run() {
    SearchEnd end = Search();
    statistics_.algorithm = Algorithm::kJumpPoint;
    if (end == SearchEnd::kGoalReached) {
      if (meeting_ == kNone ||
          (path_.AppendUpTo(meeting_) && path_.AppendDownFrom(meeting_) && path_.Append(query_.goal))) {
        return {.end = end, .nearest = query_.goal, .cost = best_, .statistics = statistics_};
      }
      end = SearchEnd::kScratchLimit;
    } else if (nearest_node_ != kNone && path_.AppendUpTo(nearest_node_)) {
      return {.end = end, .nearest = nearest_.cell(), .cost = path_.cost(), .statistics = statistics_};
    }
    return {.end = end, .nearest = query_.start, .cost = 0, .statistics = statistics_};
  }

 private:
  using Node = Hierarchy::Node;
  // End from which one of the two searches starts.
  enum Side : std::uint8_t { kFromStart, kFromGoal };

  static constexpr std::uint32_t kNone = Hierarchy::kNone;
  static constexpr Cost kUnreached = NodeTable::kUnreached;

  static Side Other(Side side) { return side == kFromStart ? kFromGoal : kFromStart; }
  Cell EndOf(Side side) const { return side == kFromStart ? query_.start : query_.goal; }

  Cost Distance(Cell from, Cell to) const {
    return OctileCost(from, to, hierarchy_.straight(), hierarchy_.diagonal());
  }

  bool IsOpen(Cell from, Cell to) const {
    return IsDirect(hierarchy_.cells(), Connectivity::kEight, CornerRule::kNoCornerCutting, from, to);
  }

  SearchEnd Search() {
    const Cost lowest = Distance(query_.start, query_.goal);
    const int width_shift =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(hierarchy_.straight()))) - 1;
    const bool has_room = scratch_.StartHierarchy(hierarchy_.node_count(), lowest, width_shift);
    generation_ = state_.generation;
    if (!path_.Append(query_.start) || !has_room) {
      return SearchEnd::kScratchLimit;
    }
    if (query_.start == query_.goal) {
      best_ = 0;
      return SearchEnd::kGoalReached;
    }
    if (const std::optional<SearchEnd> end = InterruptionAlone(budget_)) {
      return *end;
    }
    if (IsOpen(query_.start, query_.goal)) {
      best_ = lowest;
      return path_.Append(query_.goal) ? SearchEnd::kGoalReached : SearchEnd::kScratchLimit;
    }
    if (IsOpen(query_.goal, query_.start)) {
      best_ = lowest;
      return path_.Append(TurnTowards(query_.goal, query_.start)) && path_.Append(query_.goal)
                 ? SearchEnd::kGoalReached
                 : SearchEnd::kScratchLimit;
    }
    Connect(kFromStart);
    Connect(kFromGoal);
    return Climb();
  }

  // Reaches the subgoals to which an end is directly connected.
  void Connect(Side side) {
    const Cell end = EndOf(side);
    const SubgoalId own = hierarchy_.subgoals().At(end);
    if (own != kNoSubgoal) {
      Reach(side, hierarchy_.NodeOf(own), end, 0, HierarchyScratch::kFromEnd, kSectorCount, end);
      return;
    }
    hierarchy_.subgoals().ForEachNeighbour(end, [&](Cell cell) {
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

  // Settles nodes from both sides in turn until neither side has a node that could be on a cheaper path than
  // the best.
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
        if (const std::optional<SearchEnd> end = statistics_.expanded == 0
                                                     ? BudgetEndAtFirst(budget_)
                                                     : BudgetEnd(budget_, statistics_.expanded)) {
          return *end;
        }
        ++statistics_.expanded;
        has_settled = true;
        // The reference to the node may dangle after this.
        Settle(side, entry.node, state_.nodes[entry.node], entry.f);
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
    if (side == kFromGoal && node >= hierarchy_.first_of_core()) {
      // The search from the start covers the whole core.
      return;
    }
    const SectorSet onward =
        from == kSectorCount ? static_cast<SectorSet>(~0U) : hierarchy_.Onward(node, from);
    Hierarchy::ArcIndex index = hierarchy_.FirstArc(node);
    for (const Hierarchy::Arc& arc : hierarchy_.ArcsOf(node)) {
      if ((onward >> arc.leaves & 1U) != 0) {
        Reach(side, arc.to, arc.cell(), g + arc.cost, index, static_cast<Sector>(arc.arrives), cell);
      }
      ++index;
    }
  }

  const Hierarchy& hierarchy_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  HierarchyScratch& state_;
  Recorder& recorder_;
  HierarchyPath path_;
  SearchStatistics statistics_;
  NearestCell nearest_;
  // Node of nearest_; kNone while that is the start.
  Node nearest_node_ = kNone;
  std::uint32_t generation_ = 0;
  // Cost of the cheapest path so far, and the node where its two halves meet.
  Cost best_ = kUnreached;
  Node meeting_ = kNone;
  bool is_full_ = false;
};

}  // namespace

template <typename Recorder>
SearchReport RunHierarchy(const Hierarchy& hierarchy, const PathQuery& query, const Budget& budget,
                          Scratch& scratch, Recorder& recorder) {
  return HierarchySearch<Recorder>(hierarchy, query, budget, scratch, recorder).Run();
}

template SearchReport RunHierarchy(const Hierarchy&, const PathQuery&, const Budget&, Scratch&, NoRecorder&);
template SearchReport RunHierarchy(const Hierarchy&, const PathQuery&, const Budget&, Scratch&,
                                   EventRecorder&);

}  // namespace waystar::core
