// A grid of square or hexagonal cells: the immutable state of a map at one revision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/grid/lazy.h"
#include "server/core/grid/plane.h"
#include "server/core/jump_index/cancelled.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/movement_profile.h"
#include "server/core/map/plain_cells.h"
#include "server/core/map/static_index.h"
#include "server/core/walk/footprint_grids.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

class ObstacleTable;
class PortalTable;
class ProfileViews;

// Returns INVALID_ARGUMENT / BAD_SIZE with field "width" or "height" unless both are from 1 to `max_side`.
absl::Status CheckMapSize(std::int64_t width, std::int64_t height, int max_side);

// Each cell has a terrain and may have an obstacle on it. It is walkable if its terrain is passable and no
// obstacle lies on it. A step into it costs what its terrain says, unless the cell has costs of its own.
// Squares are 4- or 8-connected; hexagons (Connectivity::kSix) have axial coordinates.
//
// Thread safety: immutable, so any number of threads may read it. Copies share their cells; GridMapEditor
// makes a changed copy.
class GridMap {
 public:
  // Returns a map whose cells all have terrain `fill`, with an obstacle on each if `blocked`. Returns
  // INVALID_ARGUMENT / BAD_SIZE with field "width" or "height" if a side is not from 1 to kMaxMapSide, and
  // the errors of CheckGridSettings. REQUIRES: fill < settings.terrains.size().
  static absl::StatusOr<GridMap> Create(std::int64_t width, std::int64_t height, GridSettings settings,
                                        TerrainId fill = 0, bool blocked = false);

  int width() const { return width_; }
  int height() const { return height_; }
  Rectangle bounds() const { return {0, 0, width_, height_}; }
  const GridSettings& settings() const { return constants_->settings; }
  // Returns the costs by terrain, which do not tell of cells that have costs of their own.
  const StepCosts& step_costs() const { return constants_->step_costs; }

  bool Contains(Cell cell) const { return cell.x >= 0 && cell.x < width_ && cell.y >= 0 && cell.y < height_; }

  // Returns false for cells off the map.
  bool IsWalkable(Cell cell) const { return walkable_.Test(cell); }

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

  // Returns the named obstacles.
  const ObstacleTable& obstacles() const { return *obstacle_table_; }

  // Returns the portals. Only searches through portals follow them: see portal_search.h.
  const PortalTable& portals() const { return *portal_table_; }

  // Makes what searches use by default, so that the first query does not wait for it. Indexes over the
  // walkable cells take at most `max_index_bytes`, in this map and in those that edits make of it. REQUIRES:
  // no other thread knows the map yet.
  void Prepare(std::size_t max_index_bytes = WalkGrid::kDefaultIndexBytes);

  // Returns the terrains of row y, whether or not obstacles lie on them. REQUIRES: 0 <= y < height().
  const TerrainId* TerrainRow(int y) const { return terrain_.row(y); }

  // Returns the walkable cells and what is derived from them.
  const WalkGrid& walk() const { return *walk_; }
  // Returns the same for agents of `footprint` x `footprint` cells, which stand with their upper left cell on
  // the cell that is set. REQUIRES: 1 <= footprint <= kMaxFootprint.
  std::shared_ptr<const WalkGrid> walk(int footprint) const {
    return footprint == 1 ? walk_ : footprint_grids_->Get(*walk_, footprint);
  }

  // As in WalkGrid, for the indexes over the walkable cells of agents of any size. `before` is a map that
  // edits made this one of.
  bool NeedsBackgroundBuild() const {
    return walk_->NeedsBackgroundBuild() || footprint_grids_->NeedsBackgroundBuild();
  }
  bool BuildInBackground(CancelFlag cancelled) const;
  void FollowCloser(const GridMap& before) const;

  // Returns what searches over cells of different costs need besides. The first call makes it, in time
  // proportional to the map; from then on edits keep it up to date. REQUIRES: 8-connected.
  const PlainCells& plain_cells() const {
    return plain_cells_->Get([&] { return PlainCells(*this); });
  }

  // Returns the slot for an index over this state of the map. What the slot holds is no part of the map.
  StaticIndexSlot& static_index() const { return *static_index_; }

  // Returns the map as agents under other rules see it: see ProfileViews. REQUIRES: the rules name its
  // terrains and are not those of the map itself.
  std::shared_ptr<const GridMap> ViewUnder(const TerrainRules& rules) const;

  // Returns the named movement profiles of this map.
  const ProfileTable& profiles() const { return *profiles_; }
  // REQUIRES: no other thread knows the map yet; PutInTable made the table, for the settings of this map.
  void SetProfiles(ProfileTable profiles) {
    profiles_ = std::make_shared<const ProfileTable>(std::move(profiles));
  }

  std::int64_t walkable_cells() const { return walkable_cells_; }
  // Returns the number of cells with an obstacle, named or nameless.
  std::int64_t obstacle_cells() const { return obstacle_cells_; }

  // Returns the bytes held by this revision, shared parts included.
  std::size_t memory_bytes() const;
  // Returns the bytes held by this revision and not by `other`: the memory that is kept for its sake if the
  // other lives anyway. The cost is proportional to the bands and blocks that differ. REQUIRES: one of the
  // two was made from the other by edits, or both from a third.
  std::size_t BytesBeyond(const GridMap& other) const;
  // As BytesBeyond, without terrains and named obstacles, which the views of a map share with it.
  std::size_t DerivedBytesBeyond(const GridMap& other) const;

 private:
  friend class GridMapEditor;
  friend GridMap MakeView(const GridMap& map, const TerrainRules& rules);

  struct Constants {
    explicit Constants(GridSettings all) : settings(std::move(all)), step_costs(settings) {}
    GridSettings settings;
    StepCosts step_costs;
  };

  // The planes that, together with terrains and named obstacles, say where the nameless obstacles are.
  struct NamelessPlanes {
    explicit NamelessPlanes(const GridMap& map) : hidden(map.hidden_), walkable(map.walkable_) {}
    BitPlane hidden;
    BitPlane walkable;
  };

  GridMap() = default;

  int width_ = 0;
  int height_ = 0;
  std::shared_ptr<const Constants> constants_;
  Plane<TerrainId> terrain_;
  // Null if no cell has costs of its own.
  std::shared_ptr<const CellCosts> cell_costs_;
  Cost min_straight_ = 0;
  Cost min_diagonal_ = 0;
  // The cells whose terrain is passable.
  BitPlane passable_;
  std::shared_ptr<const ObstacleTable> obstacle_table_;
  std::shared_ptr<const PortalTable> portal_table_;
  // The number of named, blocking obstacles on each cell.
  Plane<std::uint16_t> cover_counts_;
  // The cells that at least one of those covers.
  BitPlane covered_;
  // The cells whose terrain is passable and that no obstacle lies on. So a nameless obstacle lies on each
  // cell that is passable, not covered and not walkable, and need not be stored elsewhere.
  BitPlane walkable_;
  // The nameless obstacles on all other cells. Most maps have none there, and all their rows share a band.
  BitPlane hidden_;
  // The planes of the map that a view took its nameless obstacles from; null unless it enters other terrains.
  std::shared_ptr<const NamelessPlanes> viewed_;
  std::shared_ptr<const WalkGrid> walk_;
  std::shared_ptr<const FootprintGrids> footprint_grids_;
  std::shared_ptr<StaticIndexSlot> static_index_;
  std::shared_ptr<const Lazy<PlainCells>> plain_cells_;
  std::shared_ptr<const ProfileTable> profiles_;
  std::shared_ptr<const ProfileViews> profile_views_;
  std::int64_t walkable_cells_ = 0;
  std::int64_t obstacle_cells_ = 0;
};

}  // namespace waystar::core
