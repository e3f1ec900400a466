// A* over the cells of a grid.
#pragma once

#include <bit>
#include <optional>

#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/interruption.h"
#include "server/core/search/open_list.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Goals of a search that ends at one cell. `Estimate` is a consistent heuristic.
template <typename Estimate>
class OneGoal {
 public:
  OneGoal(Cell goal, const Estimate& estimate) : goal_(goal), estimate_(estimate) {}

  Cost Heuristic(Cell cell) const { return estimate_(cell); }
  // Returns true if the search ends at this entry, taken from the open list.
  bool IsOver(const OpenEntry& entry) {
    is_found_ = entry.cell() == goal_;
    return is_found_;
  }
  bool is_found() const { return is_found_; }
  // Returns the end of the resulting path, or nullopt if that is the nearest expanded cell.
  std::optional<Cell> end() const { return is_found_ ? std::optional(goal_) : std::nullopt; }

  // Return true if a cell need not be expanded: MaySkip before it counts as expanded, IsSettled afterwards.
  static bool MaySkip(const OpenEntry& /*entry*/) { return false; }
  static bool IsSettled(const OpenEntry& /*entry*/, Cost /*g*/) { return false; }

 private:
  const Cell goal_;
  const Estimate estimate_;
  bool is_found_ = false;
};

// Loop of A*, for any goals and ground. See RunAStar in engines.h for its order and results.
//
// `Goals` says where the search ends and estimates what is left; OneGoal is one. `Ground` has:
// - Cost Begin(Cell start, Scratch& scratch): the cost at the start, called once the scratch is started.
// - DirectionSet MovesFrom(Cell cell): the legal steps from a cell.
// - Cost After(Cost g, Direction direction, Cell entered): the cost after a step from the last such cell.
// - std::optional<SearchEnd> end(): why the search must end, if it must.
// - Optional: JumpsFrom(Cell cell, Cost g), a list of the cells `to` that portals at a cell lead to, and the
//   costs `g` there; Take(jump) is called for the jumps by which cells are reached. Such nodes have
//   `arrivals`.
template <typename Goals, typename Ground, typename Recorder>
class AStarSearch {
 public:
  AStarSearch(const GridMap& map, const PathQuery& query, const Budget& budget, Goals goals, Ground& ground,
              Scratch& scratch, Recorder& recorder)
      : map_(map),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        ground_(ground),
        goals_(goals),
        nearest_(query.start, query.goal, map.lattice()) {}

  SearchReport Run() {
    const SearchEnd end = Search();
    const std::optional<Cell> found = end == SearchEnd::kGoalReached ? goals_.end() : std::nullopt;
    return {.end = end,
            .nearest = found.value_or(nearest_.cell()),
            .cost = found ? scratch_.Find(*found)->g : nearest_.cost(),
            .least_cost = least_cost_,
            .statistics = statistics_};
  }

 private:
  SearchEnd Search() {
    if (!scratch_.Start(map_)) {
      return SearchEnd::kScratchLimit;
    }
    SearchNode* start = scratch_.Find(query_.start);
    if (start == nullptr) {
      return SearchEnd::kScratchLimit;
    }
    const Cost begin = ground_.Begin(query_.start, scratch_);
    scratch_.Reach(*start, begin, Direction::kNorth);
    if (!Push(query_.start, query_.start, begin)) {
      return SearchEnd::kScratchLimit;
    }

    while (!scratch_.open().empty()) {
      const OpenEntry entry = scratch_.open().Pop();
      if (entry.f > budget_.max_cost && !goals_.is_found()) {
        least_cost_ = entry.f;
        return SearchEnd::kCostLimit;
      }
      if (goals_.IsOver(entry)) {
        break;
      }
      const Cell cell = entry.cell();
      SearchNode& node = *scratch_.Find(cell);
      if (node.expanded || goals_.MaySkip(entry)) {
        continue;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      node.expanded = true;
      ++statistics_.expanded;
      recorder_.Expanded(cell, node.g, entry.f);
      nearest_.Consider(cell, node.g);
      if (!goals_.IsSettled(entry, node.g) && !Expand(cell, node.g)) {
        return ground_.end().value_or(SearchEnd::kScratchLimit);
      }
    }
    return goals_.is_found() ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
  }

  // Reaches the neighbours of a cell. Returns false if the scratch is full or the ground ends the search.
  bool Expand(Cell cell, Cost g) {
    unsigned moves = ground_.MovesFrom(cell);
    if (ground_.end()) {
      return false;
    }
    for (; moves != 0; moves &= moves - 1) {
      const auto direction = static_cast<Direction>(std::countr_zero(moves));
      const Cell next = Step(cell, direction);
      const Cost next_g = ground_.After(g, direction, next);
      SearchNode* node = scratch_.Find(next);
      if (node == nullptr) {
        return false;
      }
      // A weighted heuristic may lead to a cheaper path when it is too late: each cell is expanded once.
      if (scratch_.IsFresh(*node) || (next_g < node->g && !node->expanded)) {
        scratch_.Reach(*node, next_g, direction);
        if (!Push(next, cell, next_g)) {
          return false;
        }
      }
    }
    if constexpr (requires { ground_.JumpsFrom(cell, g); }) {
      return Jump(cell, g);
    }
    return true;
  }

  // Reaches the cells that portals lead to. Returns false as Expand does.
  bool Jump(Cell cell, Cost g) {
    for (const auto& jump : ground_.JumpsFrom(cell, g)) {
      SearchNode* node = scratch_.Find(jump.to);
      if (node == nullptr) {
        return false;
      }
      if (scratch_.IsFresh(*node) || (jump.g < node->g && !node->expanded)) {
        scratch_.Reach(*node, jump.g, Direction::kNorth);
        node->arrivals = 1;
        ground_.Take(jump);
        if (!Push(jump.to, cell, jump.g)) {
          return false;
        }
      }
    }
    return !ground_.end();
  }

  bool Push(Cell cell, Cell parent, Cost g) {
    ++statistics_.generated;
    const Cost f = g + goals_.Heuristic(cell);
    recorder_.Generated(cell, parent, g, f);
    return scratch_.Push(OpenEntry::Of(f, g, cell));
  }

  const GridMap& map_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  Recorder& recorder_;
  Ground& ground_;
  Goals goals_;
  NearestCell nearest_;
  Cost least_cost_ = 0;
  SearchStatistics statistics_;
};

}  // namespace waystar::core
