// Changes a grid map by making a changed copy.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"

namespace waystar::core {

// Starts from a map, takes changes, and yields the changed map; the map it started from stays as it was and
// must outlive the editor.
// Costs one pointer per band of rows up front, then clones each band that a change touches, once.
//
// Thread safety: one thread at a time; readers of the original are not disturbed.
class GridMapEditor {
 public:
  explicit GridMapEditor(const GridMap& base) : base_(base), map_(base) {}
  GridMapEditor(const GridMapEditor&) = delete;
  GridMapEditor& operator=(const GridMapEditor&) = delete;

  // The map with the changes so far, but for walk() and plain_cells(), which Finish brings up to date; the
  // latter must not be asked for before, since it may be shared with the original.
  const GridMap& map() const { return map_; }

  // Puts an obstacle on each cell of row y with x_begin <= x < x_end, or takes it off, 64 cells at a time.
  // REQUIRES: the cells are on the map.
  void SetObstacles(int y, int x_begin, int x_end, bool obstacle);
  void SetObstacle(Cell cell, bool obstacle) { SetObstacles(cell.y, cell.x, cell.x + 1, obstacle); }

  // Stands for an obstacle on the first terrain in SetRow.
  static constexpr TerrainId kObstacle = 0xFF;

  // Gives row y the terrains of `cells`, and obstacles where those say kObstacle.
  // REQUIRES: 0 <= y < height; cells.size() == width; each is kObstacle or the index of a terrain.
  void SetRow(int y, absl::Span<const TerrainId> cells);

  // The map with the changes so far, which those to come leave as it is. Only its cells are to be looked at.
  GridMap Snapshot();

  struct Result {
    GridMap map;
    // From the base to it: exact, or everything if a large part of the map was written to.
    MapChanges changes;
  };

  // The changed map. The editor is spent.
  GridMap Finish() && { return std::move(*this).FinishAndList().map; }
  Result FinishAndList() &&;

 private:
  struct WordIndex {
    std::int32_t y = 0;
    std::int32_t index = 0;

    friend auto operator<=>(const WordIndex&, const WordIndex&) = default;
  };

  // Notes that a word of the walkable cells may differ from the base's.
  void Touch(int y, std::size_t index);
  // Forgets which words were touched: repairing what is derived from them would cost more than making it
  // anew.
  bool TouchedTooMany() const;
  std::vector<WordChange> Changes();
  void RemakeDerived();
  void RepairDerived(absl::Span<const WordChange> changes);
  // Of the terrain, whatever lies on it; may repeat words.
  std::vector<WordChange> TerrainChanges() const;
  void UpdatePlainCells(absl::Span<const WordChange> walkability_changes);

  const GridMap& base_;
  GridMap map_;
  PlaneWriter<TerrainId> terrain_{map_.terrain_};
  PlaneWriter<Word> passable_{map_.passable_};
  PlaneWriter<Word> obstacles_{map_.obstacles_};
  BitPlaneWriter walkable_{map_.walkable_};
  // Unsorted, with repetitions; no longer added to once there are too many.
  std::vector<WordIndex> touched_;
  // With repetitions.
  std::vector<int> repainted_rows_;
};

}  // namespace waystar::core
