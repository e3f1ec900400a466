#include <bit>
#include <optional>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/lattice.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/nearest_cell.h"
#include "server/core/search/interruption.h"
#include "server/core/search/open_list.h"

namespace waystar::core {
namespace {

// Costs of steps. A large agent pays for the most expensive cell that it covers.
class EnteringCosts {
 public:
  EnteringCosts(const GridMap& map, int footprint, DearestCells& dearest)
      : map_(map), is_large_(footprint > 1 && !map.HasUniformCost()), dearest_(dearest) {
    if (is_large_) {
      ground_ = dearest_.Add(map, footprint);
    }
  }

  Cost Of(Direction direction, Cell entered) const {
    const Cell paying = is_large_ ? dearest_.Under(ground_, entered) : entered;
    return IsDiagonal(direction) ? map_.DiagonalCost(paying) : map_.StraightCost(paying);
  }

 private:
  const GridMap& map_;
  const bool is_large_;
  DearestCells& dearest_;
  DearestCells::Ground ground_;
};

bool Contains(const GoalSet::Box& box, Cell cell) {
  return box.first.x <= cell.x && cell.x <= box.last.x && box.first.y <= cell.y && cell.y <= box.last.y;
}

SearchEnd Search(const GridMap& map, const WalkGrid& walk, const PathQuery& query, const Budget& budget,
                 Scratch& scratch, NearestCell& nearest, SearchStatistics& statistics) {
  const GridMoves& moves = GridMoves::For(map.settings().connectivity, query.corner_rule);
  GoalSet& goals = scratch.goals();
  if (!scratch.Start(map)) {
    return SearchEnd::kScratchLimit;
  }
  const EnteringCosts entering(map, query.footprint, scratch.dearest_cells());
  SearchNode* start = scratch.Find(query.start);
  if (start == nullptr) {
    return SearchEnd::kScratchLimit;
  }
  scratch.Reach(*start, 0, Direction::kNorth);
  if (!scratch.Push(OpenEntry::Of(goals.Heuristic(query.start), 0, query.start))) {
    return SearchEnd::kScratchLimit;
  }
  while (!scratch.open().empty()) {
    const OpenEntry entry = scratch.open().Pop();
    if (entry.f > goals.best_cost()) {
      break;
    }
    const Cell cell = entry.cell();
    SearchNode& node = *scratch.Find(cell);
    if (node.expanded || !goals.MayImprove(cell, entry.g, entry.f)) {
      continue;
    }
    if (const std::optional<SearchEnd> end = BudgetEnd(budget, statistics.expanded)) {
      return *end;
    }
    node.expanded = true;
    ++statistics.expanded;
    const Cost g = node.g;
    nearest.Consider(cell, g);
    if (entry.f == g) {
      goals.LookAround(
          cell, g, [&](const GoalSet::Box& box) { return Contains(box, cell); },
          [&](Cell goal) { return goal == cell; });
      // Everything behind a goal costs more than the goal.
      continue;
    }
    for (unsigned left = moves.From(walk, cell); left != 0; left &= left - 1) {
      const auto direction = static_cast<Direction>(std::countr_zero(left));
      const Cell next = Step(cell, direction);
      const Cost next_g = g + entering.Of(direction, next);
      SearchNode* reached = scratch.Find(next);
      if (reached == nullptr) {
        return SearchEnd::kScratchLimit;
      }
      if (scratch.IsFresh(*reached) || next_g < reached->g) {
        scratch.Reach(*reached, next_g, direction);
        ++statistics.generated;
        if (!scratch.Push(OpenEntry::Of(next_g + goals.Heuristic(next), next_g, next))) {
          return SearchEnd::kScratchLimit;
        }
      }
    }
  }
  return goals.is_found() ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
}

}  // namespace

SearchReport RunGoalAStar(const GridMap& map, const WalkGrid& walk, const PathQuery& query,
                          const Budget& budget, Scratch& scratch) {
  SearchReport report{.statistics = {.algorithm = Algorithm::kAStar}};
  NearestCell nearest(query.start, query.goal, LatticeOf(map.settings().connectivity));
  report.end = Search(map, walk, query, budget, scratch, nearest, report.statistics);
  report.nearest = nearest.cell();
  report.cost = nearest.cost();
  return report;
}

}  // namespace waystar::core
