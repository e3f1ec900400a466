#include <bit>
#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/map/grid_cells.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/octile.h"
#include "server/core/search/interruption.h"
#include "server/core/search/open_list.h"

namespace waystar::core {
namespace {

// Goal policy of a search that ends at query.goal. With Algorithm::kDijkstra the heuristic is zero.
class OneGoal {
 public:
  OneGoal(const GridMap& map, const PathQuery& query)
      : goal_(query.goal),
        heuristic_(query.algorithm == Algorithm::kDijkstra
                       ? CostFloorHeuristic::Zero(query.goal)
                       : CostFloorHeuristic(map, query.goal, 1.0 + query.tolerance)) {}

  Cost Heuristic(Cell cell) const { return heuristic_(cell); }
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
  const CostFloorHeuristic heuristic_;
  bool is_found_ = false;
};

// Goal policy of a search that ends once the best of scratch.goals() is known.
class ManyGoals {
 public:
  explicit ManyGoals(GoalSet& goals) : goals_(goals) {}

  Cost Heuristic(Cell cell) const { return goals_.Heuristic(cell); }
  bool IsOver(const OpenEntry& entry) const { return entry.f > goals_.best_cost(); }
  bool is_found() const { return goals_.is_found(); }
  static std::optional<Cell> end() { return std::nullopt; }

  bool MaySkip(const OpenEntry& entry) const { return !goals_.MayImprove(entry.cell(), entry.g, entry.f); }
  // Records a goal. It need not be expanded: cells behind a goal cost more.
  bool IsSettled(const OpenEntry& entry, Cost g) {
    if (entry.f != g) {
      return false;
    }
    const Cell cell = entry.cell();
    const auto contains = [&](const GoalSet::Box& box) {
      return box.first.x <= cell.x && cell.x <= box.last.x && box.first.y <= cell.y && cell.y <= box.last.y;
    };
    goals_.LookAround(cell, g, contains, [&](Cell goal) { return goal == cell; });
    return true;
  }

 private:
  GoalSet& goals_;
};

// `Goals` is OneGoal or ManyGoals.
template <typename Goals, typename Recorder, bool kHasOwnCosts>
class AStarSearch {
 public:
  AStarSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
              Goals goals, Scratch& scratch, Recorder& recorder)
      : map_(map),
        walk_(walk),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        step_costs_(map),
        moves_(GridMoves::For(map.settings().connectivity, query.corner_rule)),
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
    if (query_.footprint > 1 && !map_.HasUniformCost()) {
      ground_ = scratch_.dearest_cells().Add(map_, query_.footprint);
    }
    SearchNode* start = scratch_.Find(query_.start);
    if (start == nullptr) {
      return SearchEnd::kScratchLimit;
    }
    scratch_.Reach(*start, 0, Direction::kNorth);
    if (!Push(query_.start, query_.start, 0)) {
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
        return SearchEnd::kScratchLimit;
      }
    }
    return goals_.is_found() ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
  }

  // Reaches the neighbours of a cell. Returns false if the scratch is full.
  bool Expand(Cell cell, Cost g) {
    const StepCosts& by_terrain = map_.step_costs();
    for (unsigned moves = moves_.From(walk_, cell); moves != 0; moves &= moves - 1) {
      const auto direction = static_cast<Direction>(std::countr_zero(moves));
      const Cell next = Step(cell, direction);
      const Cost next_g = g + StepCost(by_terrain, direction, next);
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
    return true;
  }

  Cost StepCost(const StepCosts& by_terrain, Direction direction, Cell entered) const {
    if (!kHasOwnCosts && by_terrain.uniform) {
      return IsDiagonal(direction) ? by_terrain.min_diagonal : by_terrain.min_straight;
    }
    // A large agent pays for the most expensive cell that it covers after the step.
    return step_costs_.Of(direction,
                          query_.footprint > 1 ? scratch_.dearest_cells().Under(ground_, entered) : entered);
  }

  bool Push(Cell cell, Cell parent, Cost g) {
    ++statistics_.generated;
    const Cost f = g + goals_.Heuristic(cell);
    recorder_.Generated(cell, parent, g, f);
    return scratch_.Push(OpenEntry::Of(f, g, cell));
  }

  const GridMap& map_;
  const WalkGrid& walk_;
  const PathQuery& query_;
  const Budget& budget_;
  Scratch& scratch_;
  Recorder& recorder_;
  const StepCostLookup<kHasOwnCosts> step_costs_;
  const GridMoves& moves_;
  Goals goals_;
  // Ground in scratch_.dearest_cells(); used for a large agent where costs differ.
  DearestCells::Ground ground_;
  NearestCell nearest_;
  Cost least_cost_ = 0;
  SearchStatistics statistics_;
};

template <typename Goals, typename Recorder>
SearchReport Run(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                 Goals goals, Scratch& scratch, Recorder& recorder) {
  return map.cell_costs() != nullptr
             ? AStarSearch<Goals, Recorder, true>(map, walk, query, budget, goals, scratch, recorder).Run()
             : AStarSearch<Goals, Recorder, false>(map, walk, query, budget, goals, scratch, recorder).Run();
}

}  // namespace

template <typename Recorder>
SearchReport RunAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                      Scratch& scratch, Recorder& recorder) {
  SearchReport report = Run(map, walk, query, budget, OneGoal(map, query), scratch, recorder);
  report.statistics.algorithm = query.algorithm;
  return report;
}

SearchReport RunGoalAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch) {
  NoRecorder recorder;
  SearchReport report = Run(map, walk, query, budget, ManyGoals(scratch.goals()), scratch, recorder);
  report.statistics.algorithm = Algorithm::kAStar;
  // RunGoalAStar does not count the start as generated.
  report.statistics.generated -= report.statistics.generated > 0 ? 1 : 0;
  return report;
}

template SearchReport RunAStar(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                               NoRecorder&);
template SearchReport RunAStar(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                               EventRecorder&);

}  // namespace waystar::core
