// A* over the cells of all reachable maps, whose edges are steps and portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "server/core/grid/cells/grid_moves.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/portal_graph.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// A* that expands each cell once, regardless of the number of portals. Costs nothing until it runs.
//
// Not thread-safe.
class PortalAStar {
 public:
  // The arguments must outlive this. The recorder may be null.
  // REQUIRES: the graph is built and has a goal.
  PortalAStar(PortalGraph& graph, const PathQuery& query, Scratch& scratch, EventRecorder* recorder)
      : graph_(graph), query_(query), scratch_(scratch), recorder_(recorder) {}

  // Runs until `max_expansions` cells are expanded, including earlier calls. Returns nullopt if there is more
  // to do, else why the search ended. Of the budget it checks only costs, time and flags.
  std::optional<SearchEnd> Run(std::uint64_t max_expansions, const Budget& budget);

  // Returns the lower bound of the cost of all paths that was proved with kCostLimit.
  Cost least_cost() const { return least_cost_; }

  const SearchStatistics& statistics() const { return statistics_; }

  // Returns the last leg of the cheapest path, to the first of the cheapest goals, and sets Door::parent of
  // the doors on it.
  // REQUIRES: Run returned kGoalReached.
  PortalEntry FindWay();

 private:
  // A map as a layer of a plane of all maps, stacked vertically.
  struct Layer {
    std::uint32_t map = 0;
    // First row in the plane.
    std::uint32_t row = 0;
    const WalkGrid* walk = nullptr;
    const GridMoves* moves = nullptr;
    // Ground in Scratch::dearest_cells; used for a large agent where costs differ.
    DearestCells::Ground ground;
  };
  // A cell where portals start, or a goal.
  struct Place {
    std::vector<std::uint32_t> departures;
    std::optional<std::uint32_t> goal;
  };
  // A cell of the plane, numbered in row-major order.
  using Number = std::uint32_t;

  // Numbers the cells of all maps and pushes the start. Returns false if the numbers overflow or memory is at
  // its limit.
  bool Start();
  void BoundPortals();
  Number NumberOf(const Layer& layer, Cell cell) const {
    return (layer.row + static_cast<Number>(cell.y)) << row_shift_ | static_cast<Number>(cell.x);
  }
  const Layer& LayerOf(Number number) const;
  SearchNode* Find(Number number) {
    return scratch_.Find(
        {static_cast<int>(number & ((Number{1} << row_shift_) - 1)), static_cast<int>(number >> row_shift_)});
  }
  Cell CellOf(const Layer& layer, Number number) const {
    return {static_cast<int>(number & ((Number{1} << row_shift_) - 1)),
            static_cast<int>((number >> row_shift_) - layer.row)};
  }
  Cost Heuristic(std::uint32_t map, Cell cell) const;
  Cost StepCost(const Layer& layer, Direction direction, Cell entered) const;

  // Reach the neighbours of a cell or the targets of portals, or push a cell. Return false if the scratch is
  // full.
  bool Expand(const Layer& layer, Cell cell, Cost g);
  bool Pass(const Place& place, Cell cell, Cost g);
  bool Push(const Layer& layer, Number number, Cell cell, Cell parent, Cost g);

  PortalGraph& graph_;
  const PathQuery& query_;
  Scratch& scratch_;
  EventRecorder* recorder_;
  bool is_started_ = false;
  std::vector<Layer> layers_;
  // For each map of the graph, its index in layers_.
  std::vector<std::size_t> layer_of_map_;
  unsigned row_shift_ = 0;
  // Not Abseil tables: those are not usable after an allocation failure.
  std::unordered_map<Number, Place> places_;
  // For each cell that was reached through a portal, the last such door.
  std::unordered_map<Number, std::uint32_t> doors_to_;
  // The goals, if few enough to be checked one by one.
  std::vector<CostFloorHeuristic> goals_;
  // Minimum cost from any cell to a goal through a portal.
  Cost through_portals_ = 0;
  Number start_ = 0;
  std::optional<std::uint32_t> best_;
  Cost best_cost_ = PortalGraph::kFar;
  Cost least_cost_ = 0;
  SearchStatistics statistics_;
};

}  // namespace waystar::core
