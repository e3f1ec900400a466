// The cells of a region in the form that floods read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/field/cost_numbers.h"
#include "server/core/field/even_cells.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/cost.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/grid_map.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// The steps out of each cell of a region that stay in it, and what they cost, in arrays by cell, row by row
// from the region's upper left cell. It is made once for any number of floods over the same region.
//
// Thread safety: const methods may run beside each other.
class FloodGround {
 public:
  // Reads the map and keeps nothing of it; memory is reused. `walk` is map.walk(footprint). It costs half a
  // nanosecond a cell, and two more where terrains differ in cost; some more, in proportion to the footprint,
  // for a large agent and where cells have costs of their own. REQUIRES: the region is on the map, not empty,
  // and has fewer than 2^32 cells.
  void Read(const GridMap& map, const WalkGrid& walk, int footprint, CornerRule rule,
            const Rectangle& region);

  // A map of several, read as a whole. `walk` is map->walk(footprint).
  struct Layer {
    const GridMap* map = nullptr;
    const WalkGrid* walk = nullptr;
  };
  // Reads maps that lie one below the other, as one region from (0, 0) on, as wide as the widest of them. No
  // step leads from one to another. It costs some nanoseconds a cell, and while it lasts the memory of the
  // largest map once more. REQUIRES: there is a map; the region has fewer than 2^32 cells.
  void ReadStacked(absl::Span<const Layer> layers, int footprint, CornerRule rule);

  const Rectangle& region() const { return region_; }
  std::size_t cell_count() const { return moves_.size(); }
  std::uint32_t IndexOf(Cell cell) const {
    return static_cast<std::uint32_t>(cell.y - region_.y) * static_cast<std::uint32_t>(region_.width) +
           static_cast<std::uint32_t>(cell.x - region_.x);
  }
  Cell CellOf(std::uint32_t index) const {
    const auto width = static_cast<std::uint32_t>(region_.width);
    return {region_.x + static_cast<int>(index % width), region_.y + static_cast<int>(index / width)};
  }
  bool Contains(Cell cell) const { return region_.Contains(cell); }

  // Returns the legal steps that stay in the region; none from a cell on which the agent cannot stand.
  const DirectionSet* moves() const { return moves_.data(); }

  // If true, all steps cost min_straight() or min_diagonal(). Otherwise numbers() or, if empty, entering()
  // has them.
  bool is_uniform() const { return is_uniform_; }
  Cost min_straight() const { return min_straight_; }
  Cost min_diagonal() const { return min_diagonal_; }
  // Returns the greatest cost of a step of the region.
  Cost max_step() const { return max_step_; }
  // Returns, by cell, the costs of a step that enters it.
  const CellCosts::Entry* entering() const { return entering_.data(); }
  const CostNumbers& numbers() const { return numbers_; }
  // REQUIRES: the maps are 8-connected and its costs have numbers.
  const EvenCells& even_cells() const { return even_cells_; }

  bool is_eight_connected() const { return connectivity_ == Connectivity::kEight; }
  CornerRule rule() const { return rule_; }

  std::size_t memory_bytes() const {
    return moves_.capacity() + (entering_.capacity() + across_.capacity()) * sizeof(CellCosts::Entry) +
           numbers_.memory_bytes() + even_cells_.memory_bytes();
  }

 private:
  void AddLayer(const FloodGround& layer, int y);
  CellCosts::Entry EntryAt(std::size_t index) const;
  void ReadMoves(const WalkGrid& walk);
  void ReadCosts(const GridMap& map, int footprint);
  void ReadEntries(const GridMap& map, int footprint);
  void FindMaxStep();

  Rectangle region_;
  CornerRule rule_ = CornerRule::kNoCornerCutting;
  Connectivity connectivity_ = Connectivity::kEight;
  bool is_uniform_ = true;
  Cost min_straight_ = 0;
  Cost min_diagonal_ = 0;
  Cost max_step_ = 0;
  std::vector<DirectionSet> moves_;
  std::vector<CellCosts::Entry> entering_;
  // For a large agent: the dearest cell below each of its rows.
  std::vector<CellCosts::Entry> across_;
  CostNumbers numbers_;
  EvenCells even_cells_;
};

}  // namespace waystar::core
