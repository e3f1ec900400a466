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
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/cost.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"
#include "server/core/map/movement_profile.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Bounded set of the words of a map's cells that may have changed. It gives up when it holds too many words:
// to look at each would cost more than to look at all cells.
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

  // Returns the words in ascending order, or none if there are too many.
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

// Starts from a map, takes changes, and yields the changed map; the original stays as it was and must outlive
// the editor. It costs a few pointers up front, then clones each band that a change touches, once.
//
// Thread safety: one thread at a time; readers of the original are not disturbed.
class GridMapEditor {
 public:
  explicit GridMapEditor(const GridMap& base) : base_(base), map_(base) {}
  GridMapEditor(const GridMapEditor&) = delete;
  GridMapEditor& operator=(const GridMapEditor&) = delete;

  // Returns the map with the changes so far, of which its digest tells. walk(), plain_cells(),
  // terrain_tiles(), HasUniformCost() and the least costs are out of date until Finish; plain_cells() and
  // cost_floor() must not be used before, as the original may share them.
  const GridMap& map() const { return map_; }

  // Puts a nameless obstacle on each cell of row y with x_begin <= x < x_end, or takes it off, 64 cells at a
  // time. REQUIRES: the cells are on the map.
  void SetObstacles(int y, int x_begin, int x_end, bool obstacle);
  void SetObstacle(Cell cell, bool obstacle) { SetObstacles(cell.y, cell.x, cell.x + 1, obstacle); }

  // Covers each of these cells by that many more named, blocking obstacles; a negative number uncovers them.
  // REQUIRES: the cells are on the map; afterwards each is covered by 0 to kMaxObstacles.
  void Cover(int y, int x_begin, int x_end, int more);

  // Sets the named obstacles. It neither covers cells, as Cover does, nor sets costs, as SetStepCost does.
  void SetObstacleTable(std::shared_ptr<const ObstacleTable> obstacles) {
    map_.obstacle_table_ = std::move(obstacles);
  }

  void SetPortalTable(std::shared_ptr<const PortalTable> portals) { map_.portal_table_ = std::move(portals); }

  // Gives the cells of row y with x_begin <= x < x_end another terrain. Obstacles on them stay, and costs of
  // their own. REQUIRES: the cells are on the map; terrain is the index of one.
  void SetTerrains(int y, int x_begin, int x_end, TerrainId terrain);

  // Sets the cost of a straight step into a cell, whatever its terrain; a diagonal one costs that times the
  // map's diagonal cost. Without a value the cell costs what its terrain says. That should hold for most
  // cells, since searches pass those with costs of their own one by one. REQUIRES: the cell is on the map;
  // the cost is from that of kMinTerrainCost to that of kMaxTerrainCost.
  void SetStepCost(Cell cell, std::optional<Cost> straight);

  // Computes anew what steps into these cells cost: the cost of the terrain, times the factors and then plus
  // the additions of all obstacles that cover the cell, clamped to kMinTerrainCost and kMaxTerrainCost.
  // Obstacles are taken in the order of ids, so that nothing depends on which came first. Results are rounded
  // alike on every machine.
  void RefreshCosts(absl::Span<const RowSpan> cells);

  // Takes the cells and obstacles of `source`, another state of the map that the base is a view of: see
  // ViewUnder. It costs what the bands of rows that differ cost. REQUIRES: this is the first change.
  void TakeCells(const GridMap& source);

  void SetProfiles(std::shared_ptr<const ProfileTable> profiles) { map_.SetProfiles(std::move(profiles)); }

  // The bit of a cell in SetRow that stands for a nameless obstacle; alone, for one on the first terrain.
  static constexpr TerrainId kObstacle = 0x80;
  static_assert(kMaxTerrains <= kObstacle);

  // Gives row y the terrains of `cells`, and nameless obstacles where they have the bit kObstacle, and
  // nowhere else. Costs of single cells stay. REQUIRES: 0 <= y < height; cells.size() == width; each is, but
  // for that bit, the index of a terrain.
  void SetRow(int y, absl::Span<const TerrainId> cells);
  // The same with the obstacles apart: on the cells of `nameless`, laid out as bit_row.h says. Terrains stay
  // if `terrains` is empty. REQUIRES: 0 <= y < height; there are `width` terrains, if any, each the index of
  // one, and WordsPerRow(width) words without bits beside the row.
  void SetRow(int y, absl::Span<const TerrainId> terrains, absl::Span<const Word> nameless);

  // Returns the map with the changes so far; later changes leave it as it is. Only its cells may be read,
  // without terrain_tiles().
  GridMap Snapshot();

  struct Result {
    GridMap map;
    // The changes from the base to the map. They are exact, or is_everything if a large part of the map was
    // written to or profiles changed.
    MapChanges changes;
  };

  // Returns the changed map. The editor must not be used afterwards.
  GridMap Finish() && { return std::move(*this).FinishAndList().map; }
  Result FinishAndList() &&;

 private:
  // The state of the cells of one word, laid out as bit_row.h says: whether the terrain is passable, whether
  // a named, blocking obstacle covers the cell, and whether a nameless one lies on it.
  struct Ground {
    Word passable = 0;
    Word covered = 0;
    Word nameless = 0;
  };

  // Beyond this number of words derived data is made anew, which is then cheaper than a repair.
  std::size_t MaxTouchedWords() const;
  Ground GroundAt(int y, std::size_t index) const;
  // Writes what changes, and nothing else.
  void SetGround(int y, std::size_t index, const Ground& ground);
  // Brings the digest up to date with the cells of row y with x_begin <= x < x_end, whose terrain is about to
  // become `after`.
  void DigestTerrains(int y, int x_begin, int x_end, TerrainId after);
  // As SetGround, but for the digest, where passable_ and covered_ already have their new values.
  void SetNameless(int y, std::size_t index, Word nameless);
  std::vector<WordChange> WalkabilityChanges();
  // Returns, of the words whose costs may differ, the cells that are walkable before and after and for which
  // differs(cell) holds.
  template <typename Differs>
  std::vector<WordChange> WalkableCellsWhere(Differs differs);
  // Lets the planes of the map be copied.
  void ReleasePlanes();
  void UpdateLeastCosts();
  void UpdateTerrainTiles();
  // Shares the walk grids of a map that enters the same terrains.
  void ShareWalk(const GridMap& source);
  void UpdateWalkGrids(absl::Span<const WordChange> changes);
  void UpdatePlainCells(absl::Span<const WordChange> walkability_changes);

  const GridMap& base_;
  GridMap map_;
  // True if the terrains are those of another map.
  bool takes_terrains_ = false;
  // True if the walk grids are shared with a map that has the same cells.
  bool shares_walk_ = false;
  PlaneWriter<TerrainId> terrain_{map_.terrain_};
  BitPlaneWriter passable_{map_.passable_};
  PlaneWriter<std::uint16_t> cover_counts_{map_.cover_counts_};
  BitPlaneWriter covered_{map_.covered_};
  BitPlaneWriter walkable_{map_.walkable_};
  BitPlaneWriter hidden_{map_.hidden_};
  CellCostsWriter cell_costs_{map_.cell_costs_, map_.width(), map_.height()};
  // The words whose walkable cells may differ from the base's.
  TouchedWords walkability_touched_{MaxTouchedWords()};
  // Words whose obstacles may differ from the base's though the same cells can be walked on: those on terrain
  // that only other agents enter.
  TouchedWords hidden_touched_{MaxTouchedWords()};
  // The words whose costs may differ from the base's.
  TouchedWords cost_touched_{MaxTouchedWords()};
  // What SetRow takes apart.
  std::vector<TerrainId> row_terrains_;
  std::vector<Word> row_nameless_;
  // Whether obstacles have a part in what some cells cost, or had.
  bool has_refreshed_costs_ = false;
};

}  // namespace waystar::core
