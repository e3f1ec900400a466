// The cells of a grid map: the terrains, obstacles and costs that all else is derived from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/grid/lattice.h"
#include "server/core/grid/plane.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/terrain_tiles.h"

namespace waystar::core {

// Each cell has a terrain and may have an obstacle on it. It is walkable if its terrain is passable and no
// obstacle lies on it. A step into it costs what its terrain says, unless the cell has costs of its own.
// Squares are 4- or 8-connected; hexagons (Connectivity::kSix) have axial coordinates.
//
// Thread safety: immutable, so any number of threads may read them. Copies share their planes. They are a
// part of GridMap, and GridMapEditor writes them.
class GridCells {
 public:
  int width() const { return width_; }
  int height() const { return height_; }
  Rectangle bounds() const { return {0, 0, width_, height_}; }
  const GridSettings& settings() const { return constants_->settings; }
  Lattice lattice() const { return LatticeOf(settings().connectivity); }
  // Returns the costs by terrain, which do not tell of cells that have costs of their own.
  const StepCosts& step_costs() const { return constants_->step_costs; }

  bool Contains(Cell cell) const { return cell.x >= 0 && cell.x < width_ && cell.y >= 0 && cell.y < height_; }

  // Returns false for cells off the map.
  bool IsWalkable(Cell cell) const { return walkable_.Test(cell); }
  // Returns the cells for which IsWalkable holds.
  const BitPlane& walkable() const { return walkable_; }

  // Returns whether an obstacle, named or nameless, lies on the cell. REQUIRES, here and for the next three:
  // Contains(cell).
  bool HasObstacle(Cell cell) const { return TestBitOfWord(ObstacleWord(cell.y, WordOf(cell.x)), cell.x); }
  // Returns whether a nameless obstacle lies on the cell. Those form one layer, apart from the named ones.
  bool HasNamelessObstacle(Cell cell) const {
    return TestBitOfWord(NamelessWord(cell.y, WordOf(cell.x)), cell.x);
  }
  // Returns whether a named obstacle that blocks covers the cell.
  bool IsCovered(Cell cell) const { return covered_.Test(cell); }
  TerrainId TerrainAt(Cell cell) const { return terrain_.row(cell.y)[cell.x]; }

  // Returns the terrains of row y, whether or not obstacles lie on them. REQUIRES: 0 <= y < height().
  const TerrainId* TerrainRow(int y) const { return terrain_.row(y); }

  // Return the cost of a step into the cell, whether or not it is walkable. REQUIRES: Contains(cell).
  Cost StraightCost(Cell cell) const {
    const Cost own = cell_costs_ == nullptr ? 0 : cell_costs_->At(cell).straight;
    return own != 0 ? own : step_costs().straight[TerrainAt(cell)];
  }
  Cost DiagonalCost(Cell cell) const {
    const Cost own = cell_costs_ == nullptr ? 0 : cell_costs_->At(cell).diagonal;
    return own != 0 ? own : step_costs().diagonal[TerrainAt(cell)];
  }

  // Returns the cells that have costs of their own, or null if there are none.
  const CellCosts* cell_costs() const { return cell_costs_.get(); }

  // Returns which terrains lie where.
  const TerrainTiles& terrain_tiles() const { return terrain_tiles_; }

  // Returns whether steps into all walkable cells cost the same, whatever terrain obstacles lie on: all
  // passable terrains cost the same, and no cell has costs of its own.
  bool HasUniformCost() const { return step_costs().uniform && cell_costs_ == nullptr; }

  // Return the least cost of a step into a walkable cell, which a heuristic may count on.
  Cost min_straight() const { return min_straight_; }
  Cost min_diagonal() const { return min_diagonal_; }

  // Return the bits of the cells for which HasNamelessObstacle, or HasObstacle, holds: word `index` of row y,
  // laid out as bit_row.h says. REQUIRES: 0 <= y < height(); 0 <= index < WordsPerRow(width()).
  Word NamelessWord(int y, std::size_t index) const {
    return (passable_.word(y, index) & ~covered_.word(y, index) & ~walkable_.word(y, index)) |
           hidden_.word(y, index);
  }
  Word ObstacleWord(int y, std::size_t index) const {
    return (passable_.word(y, index) & ~walkable_.word(y, index)) | covered_.word(y, index) |
           hidden_.word(y, index);
  }

  std::int64_t walkable_cells() const { return walkable_cells_; }
  // Returns the number of cells with an obstacle, named or nameless.
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
  // The cells whose terrain is passable.
  BitPlane passable_;
  // The number of named, blocking obstacles on each cell.
  Plane<std::uint16_t> cover_counts_;
  // The cells that at least one of those covers.
  BitPlane covered_;
  // The cells whose terrain is passable and that no obstacle lies on. So a nameless obstacle lies on each
  // cell that is passable, not covered and not walkable, and need not be stored elsewhere.
  BitPlane walkable_;
  // The nameless obstacles on all other cells. Most maps have none there, and all their rows share a band.
  BitPlane hidden_;
  std::int64_t walkable_cells_ = 0;
  std::int64_t obstacle_cells_ = 0;
  // The digest's part of the settings, the terrains and the nameless obstacles.
  std::uint64_t cells_digest_ = 0;
};

}  // namespace waystar::core
