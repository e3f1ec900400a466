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

template <typename Recorder, bool kHasOwnCosts>
class AStarSearch {
 public:
  AStarSearch(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
              Scratch& scratch, Recorder& recorder)
      : map_(map),
        walk_(walk),
        query_(query),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        step_costs_(map),
        moves_(GridMoves::For(map.settings().connectivity, query.corner_rule)),
        heuristic_(query.algorithm == Algorithm::kDijkstra ? CostFloorHeuristic::Zero(query.goal)
                                                           : CostFloorHeuristic(map, query.goal)),
        nearest_(query.start, query.goal, map.lattice()) {}

  SearchReport Run() {
    const SearchEnd end = Search();
    statistics_.algorithm = query_.algorithm;
    const bool is_found = end == SearchEnd::kGoalReached;
    return {.end = end,
            .nearest = is_found ? query_.goal : nearest_.cell(),
            .cost = is_found ? scratch_.Find(query_.goal)->g : nearest_.cost(),
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
      const Cell cell = entry.cell();
      SearchNode& node = *scratch_.Find(cell);
      if (node.expanded) {
        continue;
      }
      if (cell == query_.goal) {
        return SearchEnd::kGoalReached;
      }
      if (const std::optional<SearchEnd> end = BudgetEnd(budget_, statistics_.expanded)) {
        return *end;
      }
      node.expanded = true;
      ++statistics_.expanded;
      recorder_.Expanded(cell, node.g, entry.f);
      nearest_.Consider(cell, node.g);
      if (!Expand(cell, node.g)) {
        return SearchEnd::kScratchLimit;
      }
    }
    return SearchEnd::kExhausted;
  }

  // Returns false if the scratch is full.
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
      if (scratch_.IsFresh(*node) || next_g < node->g) {
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
    const Cost f = g + heuristic_(cell);
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
  const CostFloorHeuristic heuristic_;
  // Used for a large agent where costs differ.
  DearestCells::Ground ground_;
  NearestCell nearest_;
  SearchStatistics statistics_;
};

}  // namespace

template <typename Recorder>
SearchReport RunAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                      Scratch& scratch, Recorder& recorder) {
  if (map.cell_costs() != nullptr) {
    return AStarSearch<Recorder, true>(map, walk, query, budget, scratch, recorder).Run();
  }
  return AStarSearch<Recorder, false>(map, walk, query, budget, scratch, recorder).Run();
}

template SearchReport RunAStar(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                               NoRecorder&);
template SearchReport RunAStar(const GridMap&, const WalkGrid&, const PathQuery&, const Budget&, Scratch&,
                               EventRecorder&);

}  // namespace waystar::core
