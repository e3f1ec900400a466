// Appearance of a grid's cells, single or by pixels.
#pragma once

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/marks.h"
#include "server/render/canvas/palette.h"
#include "server/render/scene/layout.h"
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
  // On a hexagon board only the cells of `part` exist, given in client cell coordinates. The map and the
  // palette must outlive this.
  CellLooks(const GridMap& map, const Rectangle& part, const picture::Palette& palette);

  const picture::Palette& palette() const { return palette_; }

  // REQUIRES: the cell is on the map.
  CellLook At(Cell cell) const {
    if (!board_spans_.empty() && !IsOnBoard(cell)) {
      return {.color = palette_.paper, .exists = false};
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
  std::vector<picture::LegendEntry> LegendOf(const Rectangle& region, const StopCheck& stop) const;

 private:
  bool IsOnBoard(Cell cell) const {
    const HexBoard::Span& span = board_spans_[static_cast<std::size_t>(cell.y)];
    return cell.x >= span.begin && cell.x < span.end;
  }
  CellLook WithCost(Cell cell, TerrainId terrain) const;

  const GridMap& map_;
  const picture::Palette& palette_;
  CellLook obstacle_;
  CellLook named_;
  std::array<CellLook, kMaxTerrains> terrains_;
  // Board spans by row of the plane; empty unless the map is a hexagon board.
  std::vector<HexBoard::Span> board_spans_;
};

// Draws a part of a map. A pixel that covers several cells has the mean of their colours. Cells that no step
// enters get a higher weight, so that thin walls stay visible: a quarter of the cells weighs as much as half.
//
// The cost is linear in cells and pixels, about 5 ns each. Polls `stop` for each row of pixels and every 2^16
// cells, and returns its error.
absl::StatusOr<SceneGround> DrawGround(const GridMap& map, const CellLooks& looks, const Rectangle& region,
                                       const Layout& layout, bool is_text, const StopCheck& stop);

}  // namespace waystar::core
