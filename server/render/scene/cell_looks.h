// Appearance of a grid's single cells.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/render/canvas/color.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

struct CellLook {
  picture::Color color;
  char symbol = ' ';
  // True if no step enters the cell.
  bool is_wall = false;
  // False only for cells off the shown part of a hexagon board.
  bool exists = true;
};

// Colours and symbols of a map's cells.
//
// Thread safety: const methods may be called concurrently.
class CellLooks {
 public:
  // On a hexagon board only the cells of `part` exist, given in client cell coordinates. The map must outlive
  // this.
  CellLooks(const GridMap& map, const Rectangle& part);

  // REQUIRES: the cell is on the map.
  CellLook At(Cell cell) const {
    if (!board_spans_.empty() && !IsOnBoard(cell)) {
      return {.color = paper_, .exists = false};
    }
    if (map_.HasNamelessObstacle(cell)) {
      return obstacle_;
    }
    if (map_.IsCovered(cell)) {
      return named_;
    }
    const TerrainId terrain = map_.TerrainRow(cell.y)[cell.x];
    return map_.cell_costs() == nullptr ? terrains_[terrain] : WithCost(cell, terrain);
  }

  // Returns a legend of what occurs in a part of the map. Linear in the cells of the part. Polls `stop`
  // before each row; once it fails, the remaining rows are skipped.
  std::vector<LegendEntry> LegendOf(const Rectangle& region, const StopCheck& stop) const;

 private:
  bool IsOnBoard(Cell cell) const {
    const HexBoard::Span& span = board_spans_[static_cast<std::size_t>(cell.y)];
    return cell.x >= span.begin && cell.x < span.end;
  }
  CellLook WithCost(Cell cell, TerrainId terrain) const;

  const GridMap& map_;
  picture::Color paper_;
  CellLook obstacle_;
  CellLook named_;
  std::array<CellLook, kMaxTerrains> terrains_;
  // Board spans by row of the plane; empty unless the map is a hexagon board.
  std::vector<HexBoard::Span> board_spans_;
};

}  // namespace waystar::core
