// A* over the cells of all maps within reach, whose edges are steps and portals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/grid/grid_moves.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/portal_graph.h"
#include "server/core/search/dearest_cells.h"
#include "server/core/search/octile.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/report.h"
#include "server/core/search/scratch.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// It expands each cell once, however many portals there are. It costs nothing until it runs.
//
// Thread safety: none.
class PortalAStar {
 public:
  // The arguments must outlive this. The recorder may be null. REQUIRES: the graph is built and has a goal.
  PortalAStar(PortalGraph& graph, const PathQuery& query, Scratch& scratch, EventRecorder* recorder)
      : graph_(graph), query_(query), scratch_(scratch), recorder_(recorder) {}

  // Goes on until so many cells are expanded, those of earlier calls included. Returns nothing if there is
  // more to do, else how the search ended. It looks at the budget's time and flags.
  std::optional<SearchEnd> Run(std::uint64_t max_expansions, const Budget& budget);

  const SearchStatistics& statistics() const { return statistics_; }

  // Returns the last leg of the cheapest path, of several goals to the first that costs the least, and sets
  // Door::parent of the doors on it. REQUIRES: Run has returned kGoalReached.
  PortalEntry FindWay();

 private:
  // A map, as one of the layers of a plane of all maps, one below the other.
  struct Layer {
    std::uint32_t map = 0;
    // The row of the plane where it begins.
    std::uint32_t row = 0;
    const WalkGrid* walk = nullptr;
    const GridMoves* moves = nullptr;
    // For a large agent where costs differ.
    DearestCells::Ground ground;
  };
  // A cell where portals begin, or a goal.
  struct Place {
    std::vector<std::uint32_t> departures;
    std::optional<std::uint32_t> goal;
  };
  // A cell of the plane, numbered row by row.
  using Number = std::uint32_t;

  // False if there is no room.
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

  // Return false if the scratch is full.
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
  // No tables of Abseil, which do not survive that memory runs out.
  std::unordered_map<Number, Place> places_;
  // For each cell that was reached by a portal, the last such door.
  std::unordered_map<Number, std::uint32_t> doors_to_;
  // The goals, if they are few enough to be looked at one by one.
  std::vector<CostFloorHeuristic> goals_;
  // The least that is left to pay at a portal.
  Cost through_portals_ = 0;
  Number start_ = 0;
  std::optional<std::uint32_t> best_;
  Cost best_cost_ = PortalGraph::kFar;
  SearchStatistics statistics_;
};

}  // namespace waystar::core
