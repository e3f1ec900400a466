// Conversion of Tiled's objects to named obstacles.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/grid/hex_board.h"
#include "server/core/import/tiled_map.h"
#include "server/core/map/grid_map.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// Maps a map's pixels to a plane of cells on which the centre of cell (x, y) is the point (x, y).
class TiledPlane {
 public:
  // `board` is the grid's board if the map is hexagonal, else null; `first` is the tile at the grid's cell
  // (0, 0). REQUIRES: the sizes of tiles are more than 0.
  TiledPlane(const TiledMap& map, const HexBoard* board, Cell first);

  Point At(Point pixel) const;

  // Returns how many pixels a cell is wide if discs of pixels are discs of cells, else 0.
  double pixels_of_a_square() const { return pixels_of_a_square_; }

 private:
  // The centre of the tile that the grid begins with, in pixels and on the plane.
  Point zero_;
  Point shift_;
  // The vectors of a pixel to the right, and of one down.
  Point right_;
  Point down_;
  double pixels_of_a_square_ = 0.0;
};

// Returns the map with those objects of these layers that are obstacles: by SaysBlocked of the object's
// properties, else by its class "obstacle", else by the layer's. `cost_factor` and `cost_addition`, of the
// object or its layer, make one that changes costs. The id is the object's name if that is valid and not
// taken, else "object-" and the object's id. Returns INVALID_ARGUMENT / BAD_FORMAT and the errors of
// ApplyEdits, without a field, naming layer and object; or the error of `stop`.
absl::StatusOr<GridMap> PutObjects(const std::vector<const TiledLayer*>& layers, const TiledPlane& plane,
                                   GridMap map, const StopCheck* stop = nullptr);

}  // namespace waystar::core
