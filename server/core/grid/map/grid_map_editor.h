// Editor that makes a changed copy of a grid map.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/elements/map_changes.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/cell_costs.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {

// Bounded set of the words of cells that may have changed. Beyond the limit it only records that there are
// too many: checking each word would then cost more than checking all cells.
class TouchedWords {
 public:
  // The set holds at most `limit` words.
  explicit TouchedWords(std::size_t limit) : limit_(limit) {}

  void Add(int y, std::size_t index) {
    const WordIndex word{y, static_cast<std::int32_t>(index)};
    if (is_too_many_ || (!words_.empty() && words_.back() == word)) {
      return;
    }
    if (words_.size() >= 2 * limit_) {
      LeaveOutRepetitions();
      if (is_too_many_) {
        return;
      }
    }
    words_.push_back(word);
  }

  // Returns the words in ascending order; empty if there are too many.
  absl::Span<const WordIndex> Sorted() {
    LeaveOutRepetitions();
    return words_;
  }

  bool empty() const { return words_.empty() && !is_too_many_; }

  // REQUIRES: Sorted() was called after the last Add.
  bool is_too_many() const { return is_too_many_; }

 private:
  void LeaveOutRepetitions() {
    if (!std::is_sorted(words_.begin(), words_.end())) {
      std::sort(words_.begin(), words_.end());
    }
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    if (words_.size() > limit_) {
      is_too_many_ = true;
      words_ = {};
    }
  }

  std::size_t limit_;
  std::vector<WordIndex> words_;
  bool is_too_many_ = false;
};

// Builds a changed copy of a map. The original stays unchanged and must outlive the editor. Construction
// copies a few pointers; each band is cloned when it is first changed.
//
// Thread safety: not thread-safe; readers of the original are unaffected.
class GridMapEditor {
 public:
  explicit GridMapEditor(const GridMap& base) : base_(base), map_(base) {}
  GridMapEditor(const GridMapEditor&) = delete;
  GridMapEditor& operator=(const GridMapEditor&) = delete;

  // Returns the map with the changes so far, including its digest. walk(), plain_cells(), terrain_tiles(),
  // HasUniformCost() and the minimum costs are stale until Finish. plain_cells() and cost_floor() must not be
  // called before Finish, because the original may share them.
  const GridMap& map() const { return map_; }

  // Adds or removes a nameless obstacle on each cell of row y with x_begin <= x < x_end, 64 cells at a time.
  // REQUIRES: the cells are on the map.
  void SetObstacles(int y, int x_begin, int x_end, bool obstacle);
  void SetObstacle(Cell cell, bool obstacle) { SetObstacles(cell.y, cell.x, cell.x + 1, obstacle); }

  // Adds `more` to the number of blocking named obstacles that cover each of these cells; `more` may be
  // negative.
  // REQUIRES: the cells are on the map; afterwards each is covered by 0 to kMaxObstacles.
  void Cover(int y, int x_begin, int x_end, int more);

  // Replaces the table of named obstacles only. Covered cells and costs are set by Cover and SetStepCost.
  void SetObstacleTable(std::shared_ptr<const ObstacleTable> obstacles) {
    map_.obstacle_table_ = std::move(obstacles);
  }

  void SetPortalTable(std::shared_ptr<const PortalTable> portals) { map_.portal_table_ = std::move(portals); }

  // Sets the terrain of the cells of row y with x_begin <= x < x_end. Their obstacles and own costs stay.
  // REQUIRES: the cells are on the map; `terrain` is a valid index.
  void SetTerrains(int y, int x_begin, int x_end, TerrainId terrain);

  // Sets a cell's own cost of a straight step; a diagonal step costs that times the map's diagonal cost.
  // Without a value, removes the cell's own cost. Use it for few cells: searches handle cells with their own
  // costs one by one.
  // REQUIRES: the cell is on the map; the cost is from that of kMinTerrainCost to that of kMaxTerrainCost.
  void SetStepCost(Cell cell, std::optional<Cost> straight);

  // Recomputes the step costs of these cells: terrain cost times the factors plus the additions of all
  // obstacles that cover the cell, clamped to kMinTerrainCost and kMaxTerrainCost. Obstacles are applied in
  // id order, so the result does not depend on their order of insertion. Rounding is the same on every
  // machine.
  void RefreshCosts(absl::Span<const RowSpan> cells);

  // Copies cells and obstacles from `source`, another state of the map that the base is a view of; see
  // ViewUnder. Cost is proportional to the bands of rows that differ.
  // REQUIRES: this is the first change.
  void TakeCells(const GridMap& source);

  void SetProfiles(std::shared_ptr<const ProfileTable> profiles) { map_.SetProfiles(std::move(profiles)); }

  // Bit in a cell of SetRow that marks a nameless obstacle. Alone it marks one on terrain 0.
  static constexpr TerrainId kObstacle = 0x80;
  static_assert(kMaxTerrains <= kObstacle);

  // Sets the terrains of row y to `cells` and its nameless obstacles to the cells with the bit kObstacle.
  // Costs of single cells stay.
  // REQUIRES: 0 <= y < height; cells.size() == width; each value without that bit is a valid terrain.
  void SetRow(int y, absl::Span<const TerrainId> cells);
  // As above, with the nameless obstacles given as bits laid out as in bit_row.h. Terrains stay if `terrains`
  // is empty.
  // REQUIRES: 0 <= y < height; `terrains` is empty or holds `width` valid terrains; `nameless` holds
  // WordsPerRow(width) words without bits outside the row.
  void SetRow(int y, absl::Span<const TerrainId> terrains, absl::Span<const Word> nameless);

  // Returns the map with the changes so far; later changes do not affect it. Only its cells may be read,
  // without terrain_tiles().
  GridMap Snapshot();

  struct Result {
    GridMap map;
    // Exact changes from the base to the map, or is_everything if a large part of the map was written to or
    // profiles changed.
    MapChanges changes;
  };

  // Returns the changed map. The editor must not be used afterwards.
  GridMap Finish() && { return std::move(*this).FinishAndList().map; }
  Result FinishAndList() &&;

 private:
  // State of the cells of one word, laid out as in bit_row.h: passable terrain, cover by a blocking named
  // obstacle, and nameless obstacles.
  struct Ground {
    Word passable = 0;
    Word covered = 0;
    Word nameless = 0;
  };

  // Returns the number of words beyond which rebuilding derived data is cheaper than repairing it.
  std::size_t MaxTouchedWords() const;
  Ground GroundAt(int y, std::size_t index) const;
  // Sets the state of a word; writes only to the planes that change.
  void SetGround(int y, std::size_t index, const Ground& ground);
  // Updates the digest for the cells of row y with x_begin <= x < x_end, whose terrain is about to become
  // `after`.
  void DigestTerrains(int y, int x_begin, int x_end, TerrainId after);
  // SetGround without the digest, for when passable_ and covered_ already have their new values.
  void SetNameless(int y, std::size_t index, Word nameless);
  std::vector<WordChange> WalkabilityChanges();
  // Returns, among the words whose costs may differ, the cells that are walkable both before and after and
  // satisfy differs(cell).
  template <typename Differs>
  std::vector<WordChange> WalkableCellsWhere(Differs differs);
  // Ends the writes so far, so that the map's planes may be copied.
  void ReleasePlanes();
  void UpdateLeastCosts();
  void UpdateTerrainTiles();
  // Shares the walk grids of a map with the same passable terrains.
  void ShareWalk(const GridMap& source);
  void UpdateWalkGrids(absl::Span<const WordChange> changes);
  void UpdatePlainCells(absl::Span<const WordChange> walkability_changes);

  const GridMap& base_;
  GridMap map_;
  // True if the terrains were taken from another map.
  bool takes_terrains_ = false;
  // True if the walk grids are shared with a map with the same cells.
  bool shares_walk_ = false;
  PlaneWriter<TerrainId> terrain_{map_.terrain_};
  BitPlaneWriter passable_{map_.passable_};
  PlaneWriter<std::uint16_t> cover_counts_{map_.cover_counts_};
  BitPlaneWriter covered_{map_.covered_};
  BitPlaneWriter walkable_{map_.walkable_};
  BitPlaneWriter hidden_{map_.hidden_};
  CellCostsWriter cell_costs_{map_.cell_costs_, map_.width(), map_.height()};
  // Words whose walkability may differ from the base's.
  TouchedWords walkability_touched_{MaxTouchedWords()};
  // Words whose obstacles may differ from the base's although their walkability does not: obstacles on
  // terrain that only other profiles can enter.
  TouchedWords hidden_touched_{MaxTouchedWords()};
  // Words whose costs may differ from the base's.
  TouchedWords cost_touched_{MaxTouchedWords()};
  // Scratch buffers of SetRow.
  std::vector<TerrainId> row_terrains_;
  std::vector<Word> row_nameless_;
  // True if cost obstacles affect, or affected, some cell.
  bool has_refreshed_costs_ = false;
};

}  // namespace waystar::core
