#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/astar_search.h"
#include "server/core/grid/engines/engines.h"
#include "server/core/grid/map/grid_cells.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/goal_set.h"
#include "server/core/grid/search/octile.h"
#include "server/core/search/open_list.h"

namespace waystar::core {
namespace {

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

// Ground of a map as it is.
template <bool kHasOwnCosts>
class MapGround {
 public:
  MapGround(const GridMap& map, const WalkGrid& walk, const PathQuery& query)
      : map_(map),
        walk_(walk),
        footprint_(query.footprint),
        step_costs_(map),
        moves_(GridMoves::For(map.settings().connectivity, query.corner_rule)) {}

  Cost Begin(Cell /*start*/, Scratch& scratch) {
    if (footprint_ > 1 && !map_.HasUniformCost()) {
      dearest_ = &scratch.dearest_cells();
      ground_ = dearest_->Add(map_, footprint_);
    }
    return 0;
  }

  DirectionSet MovesFrom(Cell cell) const { return moves_.From(walk_, cell); }

  Cost After(Cost g, Direction direction, Cell entered) const {
    const StepCosts& by_terrain = map_.step_costs();
    if (!kHasOwnCosts && by_terrain.uniform) {
      return g + (IsDiagonal(direction) ? by_terrain.min_diagonal : by_terrain.min_straight);
    }
    // A large agent pays for the most expensive cell that it covers after the step.
    return g + step_costs_.Of(direction, footprint_ > 1 ? dearest_->Under(ground_, entered) : entered);
  }

  static std::optional<SearchEnd> end() { return std::nullopt; }

 private:
  const GridMap& map_;
  const WalkGrid& walk_;
  const int footprint_;
  const StepCostLookup<kHasOwnCosts> step_costs_;
  const GridMoves& moves_;
  // Set for a large agent where costs differ.
  DearestCells* dearest_ = nullptr;
  DearestCells::Ground ground_;
};

template <bool kHasOwnCosts, typename Goals, typename Recorder>
SearchReport RunOnMap(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                      Goals goals, Scratch& scratch, Recorder& recorder) {
  MapGround<kHasOwnCosts> ground(map, walk, query);
  return AStarSearch(map, query, budget, goals, ground, scratch, recorder).Run();
}

CostFloorHeuristic HeuristicOf(const GridMap& map, const PathQuery& query) {
  return query.algorithm == Algorithm::kDijkstra ? CostFloorHeuristic::Zero(query.goal)
                                                 : CostFloorHeuristic(map, query.goal, 1.0 + query.tolerance);
}

template <typename Goals, typename Recorder>
SearchReport Run(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                 Goals goals, Scratch& scratch, Recorder& recorder) {
  return map.cell_costs() != nullptr ? RunOnMap<true>(map, walk, query, budget, goals, scratch, recorder)
                                     : RunOnMap<false>(map, walk, query, budget, goals, scratch, recorder);
}

}  // namespace

template <typename Recorder>
SearchReport RunAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                      Scratch& scratch, Recorder& recorder) {
  SearchReport report =
      Run(map, walk, query, budget, OneGoal(query.goal, HeuristicOf(map, query)), scratch, recorder);
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
