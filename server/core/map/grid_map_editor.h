// Changes a grid map by making a changed copy.
#pragma once

#include <utility>

#include "absl/types/span.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Starts from a map, takes changes, and yields the changed map; the map it started from stays as it was.
// Costs one pointer per band of rows up front, then clones each band that a change touches, once.
//
// Thread safety: one thread at a time; readers of the original are not disturbed.
class GridMapEditor {
 public:
  explicit GridMapEditor(const GridMap& base) : map_(base) {}
  GridMapEditor(const GridMapEditor&) = delete;
  GridMapEditor& operator=(const GridMapEditor&) = delete;

  // The map with the changes so far.
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

  // The changed map. The editor is spent.
  GridMap Finish() && { return std::move(map_); }

 private:
  GridMap map_;
  PlaneWriter<TerrainId> terrain_{map_.terrain_};
  PlaneWriter<Word> passable_{map_.passable_};
  PlaneWriter<Word> obstacles_{map_.obstacles_};
  PlaneWriter<Word> walkable_{map_.walkable_};
};

}  // namespace waystar::core
