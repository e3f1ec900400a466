// Pruning rules for weighted grids: the steps that a cheapest path may take next, decided from nine cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/grid_cells.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Terrains of nine cells in row-major order, as a comparable value; kNotWalkable for cells that are not
// walkable or outside the map. On maps with equal settings, equal neighbourhoods have the same legal steps,
// at the same costs unless cells have their own.
class Neighbourhood {
 public:
  static constexpr TerrainId kNotWalkable = 0xFF;

  // Makes nine cells of terrain 0.
  Neighbourhood() = default;
  // REQUIRES: map.Contains(cell).
  Neighbourhood(const GridCells& map, Cell cell)
      : Neighbourhood(ThreeCells(map, {cell.x, cell.y - 1}), ThreeCells(map, cell),
                      ThreeCells(map, {cell.x, cell.y + 1})) {}
  // Each argument holds the three terrains of a row, the first in the lowest byte.
  Neighbourhood(std::uint64_t above, std::uint64_t beside, std::uint64_t below)
      : first_eight_(above | beside << 24 | below << 48), last_(static_cast<TerrainId>(below >> 16)) {}

  TerrainId centre() const { return static_cast<TerrainId>(first_eight_ >> 32); }

  // Returns the terrain of the neighbour in a direction.
  TerrainId At(Direction direction) const {
    constexpr std::array<unsigned, kDirectionCount> kShifts = {8, 16, 40, 64, 56, 48, 24, 0};
    const unsigned shift = kShifts[static_cast<std::size_t>(direction)];
    return shift == 64 ? last_ : static_cast<TerrainId>(first_eight_ >> shift);
  }

  // Returns the lowest seven bits of each terrain. The result is unique per neighbourhood unless one has the
  // terrain kMaxTerrains - 1.
  std::uint64_t SevenBitsEach() const {
    std::uint64_t bits = first_eight_ & 0x7F7F7F7F7F7F7F7F;
    bits = (bits & 0x007F007F007F007F) | (bits & 0x7F007F007F007F00) >> 1;
    bits = (bits & 0x00003FFF00003FFF) | (bits & 0x3FFF00003FFF0000) >> 2;
    bits = (bits & 0x000000000FFFFFFF) | (bits & 0x0FFFFFFF00000000) >> 4;
    return bits | std::uint64_t{last_ & 0x7FU} << 56;
  }

  std::uint64_t Hash() const {
    return (first_eight_ ^ last_ * std::uint64_t{0xD6E8FEB86659FD93}) * std::uint64_t{0x9E3779B97F4A7C15};
  }

  friend bool operator==(const Neighbourhood&, const Neighbourhood&) = default;

 private:
  static std::uint32_t ThreeCells(const GridCells& map, Cell middle) {
    const unsigned walkable = ThreeBits(map.walkable().row(middle.y), middle.x);
    if (walkable == 0) {
      return 0xFFFFFF;
    }
    // Bytes to set for cells that are not walkable, indexed by the bits of the walkable ones.
    constexpr std::array<std::uint32_t, 8> kBlocked = {0xFFFFFF, 0xFFFF00, 0xFF00FF, 0xFF0000,
                                                       0x00FFFF, 0x00FF00, 0x0000FF, 0x000000};
    return Terrains(map.TerrainRow(middle.y), map.width(), middle.x) | kBlocked[walkable];
  }

  // Returns the terrains of cells x - 1, x and x + 1, the first in the lowest byte. Cells outside the map are
  // undefined.
  static std::uint32_t Terrains(const TerrainId* row, int width, int x) {
    std::uint32_t three = 0;
    for (int i = 0; i < 3; ++i) {
      const int at = x - 1 + i;
      if (at >= 0 && at < width) {
        three |= std::uint32_t{row[at]} << (8 * i);
      }
    }
    return three;
  }

  std::uint64_t first_eight_ = 0;
  TerrainId last_ = 0;
};

// Costs of nine cells; 0 for cells that are not walkable.
struct NearbyCosts {
  NearbyCosts() = default;
  // REQUIRES: map.Contains(cell).
  NearbyCosts(const GridCells& map, Cell cell) : centre(Of(map, cell)) {
    for (std::size_t d = 0; d < kDirectionCount; ++d) {
      around[d] = Of(map, Step(cell, static_cast<Direction>(d)));
    }
  }

  // Makes nine cells that have the costs of their terrains.
  NearbyCosts(const Neighbourhood& cells, const StepCosts& costs)
      : centre{costs.straight[cells.centre()], costs.diagonal[cells.centre()]} {
    for (std::size_t d = 0; d < kDirectionCount; ++d) {
      const TerrainId terrain = cells.At(static_cast<Direction>(d));
      if (terrain != Neighbourhood::kNotWalkable) {
        around[d] = {costs.straight[terrain], costs.diagonal[terrain]};
      }
    }
  }

  // Returns true if all nine are walkable and cost the same.
  bool IsUniform() const {
    return centre.straight != 0 && std::all_of(around.begin(), around.end(), [&](const auto& neighbour) {
             return neighbour.straight == centre.straight;
           });
  }

  // True if one of the walkable cells has costs of its own.
  bool has_own = false;
  CellCosts::Entry centre;
  // Costs of the neighbours by Direction.
  std::array<CellCosts::Entry, kDirectionCount> around{};

 private:
  CellCosts::Entry Of(const GridCells& map, Cell cell) {
    if (!map.IsWalkable(cell)) {
      return {};
    }
    const CellCosts::Entry own = map.OwnCosts(cell);
    if (own.straight != 0) {
      has_own = true;
      return own;
    }
    const TerrainId terrain = map.TerrainAt(cell);
    return {map.step_costs().straight[terrain], map.step_costs().diagonal[terrain]};
  }
};

// Returns the steps that the canonical path may take out of a cell that it entered in direction `arrival`.
//
// The canonical path between two cells has the least cost; among those, the fewest steps, then the fewest
// diagonal steps, then the earliest diagonal steps. Replacing a part of a path by an earlier one in this
// order makes the whole path earlier. A step is therefore pruned if the previous cell, this cell and the next
// form a path for which the nine cells contain an earlier one. Where all costs are equal, the result is the
// natural neighbours of jump point search. Source: Carlson, Moghadam, Harabor, Stuckey, Ebrahimi, "Optimal
// Pathfinding on Weighted Grid Maps" (2023).
//
// REQUIRES: the map is 8-connected.
// REQUIRES: the centre and the previous cell are walkable, and the step between them is legal.
DirectionSet CanonicalSteps(const Neighbourhood& around, const StepCosts& costs, CornerRule rule,
                            Direction arrival);
// As above, for cells with costs of their own.
DirectionSet CanonicalSteps(const NearbyCosts& costs, CornerRule rule, Direction arrival);

// Returns the canonical steps among cells of one cost: straight on and, after a diagonal step, its two
// straight components.
constexpr DirectionSet NaturalSteps(Direction arrival) {
  const DirectionSet ahead = SetOf(arrival);
  return IsDiagonal(arrival)
             ? static_cast<DirectionSet>(ahead | SetOf(Turned(arrival, 1)) | SetOf(Turned(arrival, 7)))
             : ahead;
}

// Cache of the canonical steps of recent neighbourhoods. A map has few distinct ones; a hit takes
// nanoseconds. The size is fixed and allocated by the first Prepare.
//
// Not thread-safe.
class CanonicalStepCache {
 public:
  // Prepares for maps with these costs. Keeps the entries if the costs are unchanged.
  void Prepare(const StepCosts& costs) {
    if (entries_.empty() || costs.straight != straight_ || costs.diagonal != diagonal_) {
      entries_.assign(std::size_t{1} << kSizeBits, Entry{});
      straight_ = costs.straight;
      diagonal_ = costs.diagonal;
    }
  }

  // REQUIRES: the last Prepare was for `costs`; the requirements of CanonicalSteps.
  DirectionSet Steps(const Neighbourhood& around, const StepCosts& costs, CornerRule rule,
                     Direction arrival) {
    Entry& entry = entries_[(around.Hash() >> (64 - kSizeBits)) ^ static_cast<std::size_t>(rule)];
    if (entry.around != around || entry.rule != rule) {
      entry = {.around = around, .rule = rule};
    }
    DirectionSet& steps = entry.steps[static_cast<std::size_t>(arrival)];
    if ((entry.known & SetOf(arrival)) == 0) {
      steps = CanonicalSteps(around, costs, rule, arrival);
      entry.known |= SetOf(arrival);
    }
    return steps;
  }

  std::size_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr unsigned kSizeBits = 12;

  struct Entry {
    Neighbourhood around;
    CornerRule rule = CornerRule::kNoCornerCutting;
    // Arrival directions whose steps are cached.
    DirectionSet known = 0;
    std::array<DirectionSet, kDirectionCount> steps{};
  };

  std::vector<Entry> entries_;
  std::array<Cost, kMaxTerrains> straight_{};
  std::array<Cost, kMaxTerrains> diagonal_{};
};

}  // namespace waystar::core
