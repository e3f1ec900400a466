// Cells of a grid map: terrains, obstacles and costs, from which everything else is derived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/plane.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/terrain_tiles.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Terrains, obstacles and costs of a grid's cells. A cell has a terrain and may have an obstacle. It is
// walkable if its terrain is passable and no obstacle lies on it. A step into it costs what its terrain says,
// unless the cell has costs of its own. Squares are 4- or 8-connected; hexagons (Connectivity::kSix) have
// axial coordinates.
//
// Base class of GridMap; written by GridMapEditor. Copies share their planes.
//
// Thread safety: immutable.
class GridCells {
 public:
  int width() const { return width_; }
  int height() const { return height_; }
  Rectangle bounds() const { return {0, 0, width_, height_}; }
  const GridSettings& settings() const { return constants_->settings; }
  Lattice lattice() const { return LatticeOf(settings().connectivity); }
  // Returns the costs by terrain. Cells with costs of their own override them.
  const StepCosts& step_costs() const { return constants_->step_costs; }

  bool Contains(Cell cell) const { return cell.x >= 0 && cell.x < width_ && cell.y >= 0 && cell.y < height_; }

  // Returns true if the cell is on the map and walkable.
  bool IsWalkable(Cell cell) const { return walkable_.Test(cell); }
  const BitPlane& walkable() const { return walkable_; }

  // Returns true if an obstacle, named or nameless, lies on the cell.
  // REQUIRES, here and for the next three: Contains(cell).
  bool HasObstacle(Cell cell) const { return TestBitOfWord(ObstacleWord(cell.y, WordOf(cell.x)), cell.x); }
  // Returns true if a nameless obstacle lies on the cell. Nameless obstacles form a layer separate from the
  // named ones.
  bool HasNamelessObstacle(Cell cell) const {
    return TestBitOfWord(NamelessWord(cell.y, WordOf(cell.x)), cell.x);
  }
  // Returns true if a blocking named obstacle covers the cell.
  bool IsCovered(Cell cell) const { return covered_.Test(cell); }
  TerrainId TerrainAt(Cell cell) const { return terrain_.row(cell.y)[cell.x]; }

  // Returns the terrains of row y, regardless of obstacles.
  // REQUIRES: 0 <= y < height().
  const TerrainId* TerrainRow(int y) const { return terrain_.row(y); }

  // Return the cost of a step into the cell, walkable or not.
  // REQUIRES: Contains(cell).
  Cost StraightCost(Cell cell) const {
    const Cost own = OwnCosts(cell).straight;
    return own != 0 ? own : step_costs().straight[TerrainAt(cell)];
  }
  Cost DiagonalCost(Cell cell) const {
    const Cost own = OwnCosts(cell).diagonal;
    return own != 0 ? own : step_costs().diagonal[TerrainAt(cell)];
  }

  // Returns the cell's own costs, both 0 if it has none.
  CellCosts::Entry OwnCosts(Cell cell) const {
    return cell_costs_ == nullptr ? CellCosts::Entry{} : cell_costs_->At(cell);
  }
  // Returns the cells that have costs of their own, or null if there are none.
  const CellCosts* cell_costs() const { return cell_costs_.get(); }

  // Returns the set of terrains in each tile.
  const TerrainTiles& terrain_tiles() const { return terrain_tiles_; }

  // Returns true if steps into all walkable cells cost the same, with or without the obstacles: all passable
  // terrains cost the same, and no cell has costs of its own.
  bool HasUniformCost() const { return step_costs().uniform && cell_costs_ == nullptr; }

  // Return a lower bound on the cost of a step into any walkable cell, for heuristics.
  Cost min_straight() const { return min_straight_; }
  Cost min_diagonal() const { return min_diagonal_; }

  // Return the bits of the cells for which HasNamelessObstacle or HasObstacle holds: word `index` of row y,
  // laid out as in bit_row.h.
  // REQUIRES: 0 <= y < height(); 0 <= index < WordsPerRow(width()).
  Word NamelessWord(int y, std::size_t index) const {
    return (passable_.word(y, index) & ~covered_.word(y, index) & ~walkable_.word(y, index)) |
           hidden_.word(y, index);
  }
  Word ObstacleWord(int y, std::size_t index) const {
    return (passable_.word(y, index) & ~walkable_.word(y, index)) | covered_.word(y, index) |
           hidden_.word(y, index);
  }

  std::int64_t walkable_cells() const { return walkable_cells_; }
  // Number of cells with an obstacle, named or nameless.
  std::int64_t obstacle_cells() const { return obstacle_cells_; }

 protected:
  struct Constants {
    explicit Constants(GridSettings all) : settings(std::move(all)), step_costs(settings) {}
    GridSettings settings;
    StepCosts step_costs;
  };

  GridCells() = default;

  int width_ = 0;
  int height_ = 0;
  std::shared_ptr<const Constants> constants_;
  Plane<TerrainId> terrain_;
  TerrainTiles terrain_tiles_;
  // Null if no cell has costs of its own.
  std::shared_ptr<const CellCosts> cell_costs_;
  Cost min_straight_ = 0;
  Cost min_diagonal_ = 0;
  // Cells with passable terrain.
  BitPlane passable_;
  // Number of blocking named obstacles on each cell.
  Plane<std::uint16_t> cover_counts_;
  // Cells covered by at least one of them.
  BitPlane covered_;
  // Cells with passable terrain and without obstacles. A cell that is passable, not covered and not walkable
  // therefore has a nameless obstacle, which is stored nowhere else.
  BitPlane walkable_;
  // Nameless obstacles on all other cells. Most maps have none there; all rows then share one band.
  BitPlane hidden_;
  std::int64_t walkable_cells_ = 0;
  std::int64_t obstacle_cells_ = 0;
  // Part of the digest for the settings, terrains and nameless obstacles.
  std::uint64_t cells_digest_ = 0;
};

// GridMap::StraightCost and DiagonalCost, specialized by whether the map has cells with costs of their own.
// Maps without such cells skip that lookup.
//
// REQUIRES: kHasOwnCosts == (map.cell_costs() != nullptr). The map outlives this.
template <bool kHasOwnCosts>
class StepCostLookup {
 public:
  explicit StepCostLookup(const GridCells& map)
      : map_(map), by_terrain_(map.step_costs()), own_(map.cell_costs()) {}

  // Return the cost of a step into the cell.
  // REQUIRES: the cell is on the map.
  Cost Straight(Cell entered) const { return Of(Direction::kNorth, entered); }
  Cost Diagonal(Cell entered) const { return Of(Direction::kNorthEast, entered); }

  // Returns the cost of a step in that direction.
  Cost Of(Direction direction, Cell entered) const {
    if constexpr (kHasOwnCosts) {
      if (const CellCosts::Entry own = own_->At(entered); own.straight != 0) {
        return IsDiagonal(direction) ? own.diagonal : own.straight;
      }
    }
    const TerrainId terrain = map_.TerrainAt(entered);
    return IsDiagonal(direction) ? by_terrain_.diagonal[terrain] : by_terrain_.straight[terrain];
  }

 private:
  const GridCells& map_;
  const StepCosts& by_terrain_;
  const CellCosts* own_;
};

}  // namespace waystar::core
