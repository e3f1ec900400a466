#include <bit>
#include <cstdint>
#include <optional>

#include "server/core/engine/eight_connected_jumps.h"
#include "server/core/engine/four_connected_jumps.h"
#include "server/core/grid/grid_moves.h"
#include "server/core/nearest/direct_way.h"
#include "server/core/nearest/goal_search.h"
#include "server/core/search/bucket_queue.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class GoalJumps {
 public:
  GoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
            Scratch& scratch, GoalSet& goals, SearchStatistics& statistics)
      : map_(map),
        walk_(walk),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        goals_(goals),
        statistics_(statistics) {}

  template <typename Jumper>
  SearchEnd Run(Jumper jumps) {
    const Cost lowest = goals_.Heuristic(query_.start);
    scratch_.StartJumps(
        lowest, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(map_.min_straight()))) - 2);
    Reach(query_.start, 0,
          GridMoves::For(map_.settings().connectivity, query_.corner_rule).From(walk_, query_.start));
    BucketQueue& open = scratch_.buckets();
    while (!is_full_ && !open.empty()) {
      const BucketQueue::Entry entry = open.Pop();
      if (open.Floor() > goals_.best_cost()) {
        break;
      }
      JumpNode& node = scratch_.nodes()[entry.node];
      const DirectionSet directions = node.todo;
      if (directions == 0) {
        continue;
      }
      if (statistics_.expanded >= budget_.max_expansions) {
        return SearchEnd::kExpansionLimit;
      }
      if (statistics_.expanded % Budget::kPollInterval == 0) {
        if (const std::optional<SearchEnd> end = Interruption(budget_)) {
          return *end;
        }
      }
      ++statistics_.expanded;
      node.done |= directions;
      node.todo = 0;
      const Cell cell = Unpack(node.cell);
      const Cost g = node.g;
      LookAround(cell, g);
      jumps(cell, g, directions);
    }
    if (is_full_) {
      return SearchEnd::kScratchLimit;
    }
    return goals_.is_found() ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
  }

  // These are called by jumps; see EightConnectedJumps.
  static constexpr Cell goal() { return {-2, -2}; }
  static void ReachGoal(Cost /*g*/) {}
  void Reach(Cell cell, Cost g, DirectionSet directions) {
    const Cost f = g + goals_.Heuristic(cell);
    if (f > goals_.best_cost()) {
      return;
    }
    const NodeIndex index = scratch_.FindOrAddNode(cell);
    if (index == kNoNode) {
      is_full_ = true;
      return;
    }
    JumpNode& node = scratch_.nodes()[index];
    if (g > node.g) {
      return;
    }
    const bool is_waiting = node.todo != 0;
    if (g == node.g) {
      const auto more = static_cast<DirectionSet>(directions & ~(node.todo | node.done));
      node.todo |= more;
      if (more == 0 || is_waiting) {
        return;
      }
    } else {
      node.g = g;
      node.todo = directions;
      node.done = 0;
    }
    ++statistics_.generated;
    is_full_ = is_full_ || (node.todo != 0 && !scratch_.PushJump(f, index));
    if (directions == 0) {
      LookAround(cell, g);
    }
  }

 private:
  void LookAround(Cell cell, Cost g) {
    for (const GoalSet::Goal& goal : goals_.goals()) {
      const Cost cost = g + goals_.Distance(cell, goal);
      if (goals_.Improves(cost, goal) &&
          IsDirect(walk_, map_.settings().connectivity, query_.corner_rule, cell, Unpack(goal.cell))) {
        goals_.Improve(cost, goal);
      }
    }
  }

  const GridMap& map_;
  const WalkGrid& walk_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  GoalSet& goals_;
  SearchStatistics& statistics_;
  bool is_full_ = false;
};

template <CornerRule kRule>
SearchEnd RunEightConnectedGoals(const GridMap& map, const WalkGrid& walk, GoalJumps& search) {
  std::uint64_t in_vain = 0;
  if (const DiagonalJumpIndex* stops = walk.diagonal_jumps(kRule)) {
    return search.Run(
        EightConnectedJumps<kRule, DiagonalJumpIndex, GoalJumps>(map, walk, *stops, search, in_vain));
  }
  const EveryCellStops every_cell;
  const SearchEnd end = search.Run(
      EightConnectedJumps<kRule, EveryCellStops, GoalJumps>(map, walk, every_cell, search, in_vain));
  walk.RecordMisses(kRule, in_vain);
  return end;
}

}  // namespace

SearchEnd RunGoalJumps(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                       Scratch& scratch, GoalSet& goals, SearchStatistics& statistics) {
  GoalJumps search(map, walk, query, budget, scratch, goals, statistics);
  if (map.settings().connectivity == Connectivity::kFour) {
    std::uint64_t in_vain = 0;
    const SearchEnd end =
        search.Run(FourConnectedJumps<GoalJumps>(map, walk, walk.turn_jumps(), search, in_vain));
    walk.RecordTurnMisses(in_vain);
    return end;
  }
  switch (query.corner_rule) {
    case CornerRule::kNoCornerCutting:
      return RunEightConnectedGoals<CornerRule::kNoCornerCutting>(map, walk, search);
    case CornerRule::kOneSideFree:
      return RunEightConnectedGoals<CornerRule::kOneSideFree>(map, walk, search);
    case CornerRule::kAlways:
      return RunEightConnectedGoals<CornerRule::kAlways>(map, walk, search);
  }
  return SearchEnd::kExhausted;
}

}  // namespace waystar::core
