// Changes a grid map by making a changed copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cost.h"
#include "server/core/map/cell_costs.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"
#include "server/core/map/movement_profile.h"
#include "server/core/map/touched_words.h"
#include "server/core/shape/span_set.h"

namespace waystar::core {

// Starts from a map, takes changes, and yields the changed map; the map it started from stays as it was and
// must outlive the editor.
// Costs a few pointers up front, then clones each band that a change touches, once.
//
// Thread safety: one thread at a time; readers of the original are not disturbed.
class GridMapEditor {
 public:
  explicit GridMapEditor(const GridMap& base) : base_(base), map_(base) {}
  GridMapEditor(const GridMapEditor&) = delete;
  GridMapEditor& operator=(const GridMapEditor&) = delete;

  // The map with the changes so far, but for walk(), plain_cells(), HasUniformCost() and the least costs,
  // which Finish brings up to date; plain_cells() must not be asked for before, since it may be shared with
  // the original.
  const GridMap& map() const { return map_; }

  // Puts a nameless obstacle on each cell of row y with x_begin <= x < x_end, or takes it off, 64 cells at a
  // time. REQUIRES: the cells are on the map.
  void SetObstacles(int y, int x_begin, int x_end, bool obstacle);
  void SetObstacle(Cell cell, bool obstacle) { SetObstacles(cell.y, cell.x, cell.x + 1, obstacle); }

  // Covers each of these cells by that many more named obstacles that block; less than 0 uncovers them.
  // REQUIRES: the cells are on the map; none is covered by fewer than 0 or more than kMaxObstacles then.
  void Cover(int y, int x_begin, int x_end, int more);

  // The named obstacles of the map, whose cells are covered by Cover, and their costs set by SetStepCost.
  void SetObstacleTable(std::shared_ptr<const ObstacleTable> obstacles) {
    map_.obstacle_table_ = std::move(obstacles);
  }

  void SetPortalTable(std::shared_ptr<const PortalTable> portals) { map_.portal_table_ = std::move(portals); }

  // Gives the cells of row y with x_begin <= x < x_end another terrain. Obstacles on them stay, and costs of
  // their own. REQUIRES: the cells are on the map; terrain is the index of one.
  void SetTerrains(int y, int x_begin, int x_end, TerrainId terrain);

  // Says what a straight step into a cell costs, whatever its terrain; a diagonal one costs that times the
  // map's diagonal cost. Nothing: what its terrain says, as is right for most cells, since searches pass
  // those with costs of their own one by one.
  // REQUIRES: the cell is on the map; the cost is from that of kMinTerrainCost to that of kMaxTerrainCost.
  void SetStepCost(Cell cell, std::optional<Cost> straight);

  // Takes the cells and obstacles of `source`, another state of the map that the base is a view of: see
  // MakeView. Costs of single cells stay; those to be said anew, by RefreshCosts, are returned. REQUIRES: the
  // first change.
  SpanSet TakeCells(const GridMap& source);

  void SetProfiles(std::shared_ptr<const ProfileTable> profiles) { map_.profiles_ = std::move(profiles); }

  // Stands for an obstacle on the first terrain in SetRow.
  static constexpr TerrainId kObstacle = 0xFF;

  // Gives row y the terrains of `cells`, and obstacles where those say kObstacle. Costs of single cells stay.
  // REQUIRES: 0 <= y < height; cells.size() == width; each is kObstacle or the index of a terrain.
  void SetRow(int y, absl::Span<const TerrainId> cells);

  // The map with the changes so far, which those to come leave as it is. Only its cells are to be looked at.
  GridMap Snapshot();

  struct Result {
    GridMap map;
    // From the base to it: exact, or everything if a large part of the map was written to, or profiles were.
    MapChanges changes;
  };

  // The changed map. The editor is spent.
  GridMap Finish() && { return std::move(*this).FinishAndList().map; }
  Result FinishAndList() &&;

 private:
  // What cells are that share a word, laid out as bit_row.h says: of passable terrain, covered by a named
  // obstacle that blocks, with a nameless one.
  struct Ground {
    Word passable = 0;
    Word covered = 0;
    Word nameless = 0;
  };

  // What is derived from more words is made anew, which costs less then than repairing it.
  std::size_t MaxTouchedWords() const;
  Ground GroundAt(int y, std::size_t index) const;
  // Writes to what changes, and to nothing else.
  void SetGround(int y, std::size_t index, const Ground& ground);
  // The same where what is passable and covered is as it is to be.
  void SetNameless(int y, std::size_t index, Word nameless);
  std::vector<WordChange> WalkabilityChanges();
  // Of the words whose costs may differ, those cells, walkable before and after, of which differs(cell).
  template <typename Differs>
  std::vector<WordChange> WalkableCellsWhere(Differs differs);
  // Lets the planes of the map be copied.
  void ReleasePlanes();
  void UpdateLeastCosts();
  // Of a map that enters the same terrains.
  void ShareWalk(const GridMap& source);
  void UpdateWalkGrids(absl::Span<const WordChange> changes);
  void UpdatePlainCells(absl::Span<const WordChange> walkability_changes);

  const GridMap& base_;
  GridMap map_;
  // Whether the walk grids are those of a map that has the same cells.
  bool shares_walk_ = false;
  PlaneWriter<TerrainId> terrain_{map_.terrain_};
  BitPlaneWriter passable_{map_.passable_};
  PlaneWriter<std::uint16_t> cover_counts_{map_.cover_counts_};
  BitPlaneWriter covered_{map_.covered_};
  BitPlaneWriter walkable_{map_.walkable_};
  BitPlaneWriter hidden_{map_.hidden_};
  CellCostsWriter cell_costs_{map_.cell_costs_, map_.width(), map_.height()};
  // Whose walkable cells may differ from the base's.
  TouchedWords walkability_touched_{MaxTouchedWords()};
  // Whose costs may.
  TouchedWords cost_touched_{MaxTouchedWords()};
};

}  // namespace waystar::core
