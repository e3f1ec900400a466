// Cells of a region in the form that floods read, and the sense in which floods run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Costs of cells as one-byte numbers of the distinct costs, which floods read faster than the costs.
//
// Thread safety: const methods may run concurrently.
class CostNumbers {
 public:
  static constexpr std::size_t kMost = 255;

  // Numbers the terrains of the region's cells in row-major order; reuses memory. Costs half a nanosecond per
  // cell.
  // REQUIRES: the region is on the map; no cell has costs of its own.
  void ReadTerrains(const GridMap& map, const Rectangle& region);
  // Numbers a list of costs. Returns false and clears the numbers if there are more than kMost distinct ones.
  // Costs several nanoseconds per cell.
  bool ReadEntries(absl::Span<const CellCosts::Entry> entering);
  void Clear();

  bool empty() const { return numbers_.empty(); }
  absl::Span<const std::uint8_t> numbers() const { return numbers_; }
  // Returns the costs by number.
  absl::Span<const CellCosts::Entry> costs() const { return costs_; }

  std::size_t memory_bytes() const {
    return numbers_.capacity() + costs_.capacity() * sizeof(CellCosts::Entry);
  }

 private:
  // Returns the number of a cost; assigns one if it has none.
  std::size_t NumberOf(const CellCosts::Entry& cost);

  std::vector<std::uint8_t> numbers_;
  std::vector<CellCosts::Entry> costs_;
};

// Set of the cells of a region for which steps into the cell cost the same as steps into each of its eight
// neighbours that has legal steps.
//
// Thread safety: const methods may run concurrently.
class EvenCells {
 public:
  // Finds the cells. `moves` holds the legal steps out of each cell and `numbers` a number below 255 for the
  // cost of steps into it, both in row-major order. Reuses memory. Costs a nanosecond per cell.
  // REQUIRES: both lists have the same size, a multiple of `width`.
  void Find(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers, std::size_t width);

  bool Test(std::size_t index) const { return (bits_[index / kWordBits] >> (index % kWordBits) & 1U) != 0; }

  std::size_t memory_bytes() const { return bits_.capacity() * sizeof(Word); }

 private:
  // Minimum and maximum number of each cell and its neighbours in the row.
  struct Row {
    std::vector<std::uint8_t> least;
    std::vector<std::uint8_t> highest;
  };

  void ReadRow(absl::Span<const DirectionSet> moves, absl::Span<const std::uint8_t> numbers, Row& row);

  std::vector<Word> bits_;
  // Rows above, at and below the current row.
  std::array<Row, 3> rows_;
  // Values of single cells, with one more before the first and after the last.
  Row single_;
};

enum class FloodSense : std::uint8_t {
  // Costs of paths from the seeds to each cell.
  kFromSeeds,
  // Costs of paths from each cell to the seeds. These differ from kFromSeeds where cells differ in cost,
  // because a step costs what the entered cell costs, and where portals are one-way.
  kToSeeds,
};

// Legal steps within a region and their costs, in arrays by cell in row-major order. Read once for any number
// of floods over the same region.
//
// Thread safety: const methods may run concurrently.
class FloodGround {
 public:
  // Reads the map and keeps no reference to it; reuses memory. `walk` is map.walk(footprint). Costs half a
  // nanosecond per cell, and two more if terrains differ in cost. For large agents and for cells with costs
  // of their own it costs more, in proportion to the footprint.
  // REQUIRES: the region is on the map, not empty, and has fewer than 2^32 cells.
  void Read(const GridMap& map, const WalkGrid& walk, int footprint, CornerRule rule,
            const Rectangle& region);

  // One of several maps that are read as a whole. `walk` is map->walk(footprint).
  struct Layer {
    const GridMap* map = nullptr;
    const WalkGrid* walk = nullptr;
  };
  // Reads maps stacked vertically as one region that starts at (0, 0) and is as wide as the widest map. No
  // step connects two maps. Costs several nanoseconds per cell and, temporarily, the memory of the largest
  // map again.
  // REQUIRES: there is a map; the region has fewer than 2^32 cells.
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

  // Returns the legal steps by cell that stay in the region; none for cells that are not walkable.
  const DirectionSet* moves() const { return moves_.data(); }

  // If true, all steps cost min_straight() or min_diagonal(). Otherwise numbers() or, if that is empty,
  // entering() has the costs.
  bool is_uniform() const { return is_uniform_; }
  Cost min_straight() const { return min_straight_; }
  Cost min_diagonal() const { return min_diagonal_; }
  // Maximum cost of a step in the region.
  Cost max_step() const { return max_step_; }
  // Returns, by cell, the costs of entering it.
  const CellCosts::Entry* entering() const { return entering_.data(); }
  const CostNumbers& numbers() const { return numbers_; }
  // REQUIRES: the maps are 8-connected and the costs have numbers.
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
  // For a large agent: the most expensive cell below each of its rows.
  std::vector<CellCosts::Entry> across_;
  CostNumbers numbers_;
  EvenCells even_cells_;
};

// Return word `i` of a row, shifted so that each cell's bit is that of its neighbour to the right or left.
inline Word FromRight(const Word* row, std::size_t i) { return row[i] >> 1 | row[i + 1] << (kWordBits - 1); }
inline Word FromLeft(const Word* row, std::size_t i) {
  return row[i] << 1 | (i == 0 ? 0 : row[i - 1] >> (kWordBits - 1));
}

// Returns the diagonal steps into cells of `target` that the rule allows, given where the two cells beside
// each step are walkable.
inline Word LegalDiagonals(CornerRule rule, Word target, Word one_side, Word other_side) {
  switch (rule) {
    case CornerRule::kNoCornerCutting:
      return target & one_side & other_side;
    case CornerRule::kOneSideFree:
      return target & (one_side | other_side);
    case CornerRule::kAlways:
      return target;
  }
  return 0;
}

}  // namespace waystar::core
